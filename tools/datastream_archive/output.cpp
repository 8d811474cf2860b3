#include "output.hpp"

#include "printable.hpp"

#include <cerrno>
#include <poll.h>
#include <unistd.h>

namespace datastream::tool {

DescriptorBuffer::int_type DescriptorBuffer::overflow(int_type next) {
  sync();
  if (!traits_type::eq_int_type(next, traits_type::eof()))
    sputc(traits_type::to_char_type(next));
  return traits_type::not_eof(next);
}

int DescriptorBuffer::sync() {
  const char* at = pbase();
  while (at != pptr()) {
    const ssize_t written = ::write(descriptor_, at, static_cast<std::size_t>(pptr() - at));
    if (written >= 0) {
      at += written;
    } else if (errno != EINTR) {
      const int error = errno;
      setp(bytes_.data(), bytes_.data() + bytes_.size());
      if (error == EPIPE)
        throw NobodyReads{};
      throw std::system_error(error, std::generic_category(), "cannot write the results");
    }
  }
  setp(bytes_.data(), bytes_.data() + bytes_.size());
  return 0;
}

Output::Output() : buffer_(STDOUT_FILENO), stream_(&buffer_) {
  // What the buffer throws comes through.
  stream_.exceptions(std::ios::badbit);
}

Output& Output::raw(std::string_view bytes) {
  stream_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  return *this;
}

Output& Output::text(std::string_view text) {
  return raw(printable(text));
}

bool Output::is_read() const {
  pollfd descriptor{STDOUT_FILENO, 0, 0};
  return ::poll(&descriptor, 1, 0) <= 0 || (descriptor.revents & (POLLERR | POLLHUP)) == 0;
}

} // namespace datastream::tool
