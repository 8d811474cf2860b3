// Streams over TLS, by CAF's own module for it.
#include "middleman_test.hpp"

#include <datastream/caf/load.hpp>
#include <datastream/caf/settings.hpp>

#include <caf/openssl/manager.hpp>
#include <caf/openssl/publish.hpp>
#include <caf/openssl/remote_actor.hpp>
#include <doctest/doctest.h>

#include <filesystem>

using namespace datastream;
using namespace datastream::test;
using namespace std::chrono_literals;

namespace {

/// A key with a certificate that it has signed itself, in a folder that is removed at the end.
class Certificate {
public:
  Certificate() {
    std::string folder = std::filesystem::temp_directory_path() / "datastream-XXXXXX";
    REQUIRE(::mkdtemp(folder.data()));
    folder_ = folder;
    ChildProcess tool{{OPENSSL_TOOL, "req", "-x509", "-batch", "-subj", "/CN=datastream", "-days",
                       "1", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
                       "-keyout", key(), "-out", certificate()}};
    REQUIRE(tool.reap() == 0);
  }
  Certificate(const Certificate&) = delete;
  Certificate& operator=(const Certificate&) = delete;
  ~Certificate() { std::filesystem::remove_all(folder_); }

  std::string key() const { return folder_ / "key.pem"; }
  std::string certificate() const { return folder_ / "certificate.pem"; }

private:
  std::filesystem::path folder_;
};

/// A system that shows its certificate to peers, and trusts those that show the same.
struct TlsSystem {
  struct TlsConfig : RemoteConfig {
    explicit TlsConfig(const Certificate& own) {
      compat::load<caf::openssl::manager>(*this);
      set(compat::setting("openssl.certificate"), own.certificate());
      set(compat::setting("openssl.key"), own.key());
      set(compat::setting("openssl.cafile"), own.certificate());
    }
  };
  explicit TlsSystem(const Certificate& own) : config(own) {}

  caf::actor connector() const {
    return caf::actor_cast<caf::actor>(system.openssl_manager().actor_handle());
  }

  TlsConfig config;
  caf::actor_system system{config};
};

caf::actor spawn_follower(caf::actor_system& system, const RemoteEndpoint& node,
                          const SeenPtr& seen) {
  return system.spawn([=](caf::event_based_actor* self) -> caf::behavior {
    Subscriber in{self};
    in.subscribe(node, recording(seen), {.capacity = {100'000, 64U << 20U}});
    return in.handlers();
  });
}

} // namespace

TEST_CASE("a_stream_travels_over_tls_to_readers_that_look_for_it_or_bring_a_handle") {
  const Certificate certificate;
  TlsSystem here{certificate};
  TlsSystem there{certificate};
  Endpoint node{here.system, {.node = "n"}};
  const auto port = caf::openssl::publish(node.ref().actor(), 0, "127.0.0.1");
  REQUIRE(port);
  auto looking = std::make_shared<Seen>();
  const auto follower = spawn_follower(
      there.system, {.host = "127.0.0.1", .port = *port, .connector = there.connector()}, looking);
  auto handle = caf::openssl::remote_actor(there.system, "127.0.0.1", *port);
  REQUIRE(handle);
  auto brought = std::make_shared<Seen>();
  const auto reader = spawn_recorder(there.system, EndpointRef(*handle), brought,
                                     {.capacity = {100'000, 64U << 20U}});
  REQUIRE(eventually([&] { return looking->has_started() && brought->has_started(); }));
  const auto out = node.producer();
  const auto log = out.register_channel("a", TextStream{});
  for (int i = 0; i < 20'000; ++i)
    while (!out.submit_text(log, "some text"))
      std::this_thread::yield();
  CHECK(node.close(20s));
  for (const SeenPtr& seen : {looking, brought}) {
    const auto events = seen->now();
    CHECK(events.frames == 20'000);
    CHECK(events.gaps == 0);
    REQUIRE(events.ended);
    CHECK(events.ended->assigned == 20'000);
    CHECK(eventually([&] { return seen->now().downs == 1; }));
  }
  const auto ledger = node.ledger();
  CHECK(ledger.balanced());
  CHECK(ledger.fanout.departed.acknowledged == 40'000);
  CHECK(ledger.fanout.departed.abandoned == 0);
  stop(follower);
  stop(reader);
}

TEST_CASE("readers_without_tls_or_with_a_certificate_that_is_not_trusted_never_begin") {
  const Certificate certificate;
  const Certificate strange;
  TlsSystem here{certificate};
  Endpoint node{here.system, {.node = "n"}};
  const auto port = caf::openssl::publish(node.ref().actor(), 0, "127.0.0.1");
  REQUIRE(port);
  const RemoteEndpoint plain{.host = "127.0.0.1", .port = *port, .timeout = 500ms};
  {
    RemoteSystem there;
    CHECK_FALSE(connect(there.system, plain));
  }
  {
    TlsSystem there{strange};
    auto tls = plain;
    tls.connector = there.connector();
    CHECK_FALSE(connect(there.system, tls));
  }
  CHECK(node.ledger().fanout.subscribers.empty());
  TlsSystem there{certificate}; // the port still serves those that are welcome
  auto tls = plain;
  tls.timeout = 20s;
  tls.connector = there.connector();
  CHECK(connect(there.system, tls));
}
