#include "scripts.hpp"

#include <algorithm>
#include <random>
#include <utility>

namespace datastream::model_test {
namespace {

/// How often each action is drawn, of all together.
struct Weight {
  ActionKind kind;
  unsigned weight;
};
constexpr Weight weights[] = {
    {ActionKind::register_channel, 60},
    {ActionKind::submit, 230},
    {ActionKind::submit_many, 40},
    {ActionKind::submit_too_large, 1},
    {ActionKind::submit_to_past_life, 5},
    {ActionKind::submit_health, 8},
    {ActionKind::tick, 120},
    {ActionKind::drain_directly, 10},
    {ActionKind::end, 2},
    {ActionKind::restart, 5},
    {ActionKind::subscribe, 40},
    {ActionKind::read, 220},
    {ActionKind::leave, 20},
    {ActionKind::stray_acknowledgement, 15},
    {ActionKind::carry, 200},
    {ActionKind::carry_twice, 25},
    {ActionKind::lose, 25},
    {ActionKind::forge, 8},
    {ActionKind::forget, 2},
    {ActionKind::query, 20},
};

class Draw {
public:
  explicit Draw(std::uint64_t seed) : random_(seed) {}

  std::size_t below(std::size_t bound) { return random_() % bound; }
  std::uint16_t number() { return static_cast<std::uint16_t>(random_()); }

  ActionKind kind() {
    std::size_t sum = 0;
    for (const Weight& weight : weights)
      sum += weight.weight;
    std::size_t chosen = below(sum);
    for (const Weight& weight : weights) {
      if (chosen < weight.weight)
        return weight.kind;
      chosen -= weight.weight;
    }
    return ActionKind::tick;
  }

  Script script(std::size_t actions) {
    Script script;
    script.mux.frames = 1 + below(below(2) == 0 ? 16 : 100);
    script.mux.bytes = below(3) == 0 ? (1 + below(200)) * 8 : std::size_t{1} << 20U;
    switch (below(4)) {
    case 0:
      script.retention.frames = below(300);
      break;
    case 1:
      script.retention.bytes = below(20'000);
      break;
    default:
      break;
    }
    while (script.actions.size() < actions) {
      Action action{kind(), number(), number(), number()};
      // Mostly in the order in which it was sent.
      if (action.kind == ActionKind::carry && below(3) != 0)
        action.x = 0;
      script.actions.push_back(action);
    }
    return script;
  }

private:
  std::mt19937_64 random_;
};

/// Parts of a script that may be left out: halves, then quarters, down to single actions.
std::vector<std::pair<std::size_t, std::size_t>> parts(std::size_t actions) {
  std::vector<std::pair<std::size_t, std::size_t>> result;
  for (std::size_t size = actions; size > 0; size /= 2)
    for (std::size_t end = actions; end > 0; end -= std::min(end, size))
      result.emplace_back(end - std::min(end, size), end);
  return result;
}

rc::Seq<Script> without_parts(const Script& script) {
  return rc::seq::map(rc::seq::fromContainer(parts(script.actions.size())),
                      [script](const std::pair<std::size_t, std::size_t>& part) {
                        Script shorter = script;
                        const auto begin = shorter.actions.begin();
                        shorter.actions.erase(begin + static_cast<std::ptrdiff_t>(part.first),
                                              begin + static_cast<std::ptrdiff_t>(part.second));
                        return shorter;
                      });
}

rc::Seq<Script> with_smaller_numbers(const Script& script) {
  return rc::seq::mapcat(
      rc::seq::range<std::size_t>(0, 3 * script.actions.size()), [script](std::size_t index) {
        const auto number = [index](Script& of) -> std::uint16_t& {
          Action& action = of.actions[index / 3];
          return index % 3 == 0 ? action.x : index % 3 == 1 ? action.y : action.z;
        };
        Script smaller = script;
        return rc::seq::map(rc::shrink::towards<std::uint16_t>(number(smaller), 0),
                            [script, number](std::uint16_t value) {
                              Script changed = script;
                              number(changed) = value;
                              return changed;
                            });
      });
}

} // namespace

std::ostream& operator<<(std::ostream& out, const Script& script) {
  out << "mux of " << script.mux.frames << " frames and " << script.mux.bytes
      << " bytes, retention of " << script.retention.frames << " frames and "
      << script.retention.bytes << " bytes\n";
  for (const Action& action : script.actions)
    out << action << '\n';
  return out;
}

Script draw_script(std::uint64_t seed, std::size_t actions) {
  return Draw(seed).script(actions);
}

rc::Gen<Script> scripts(std::size_t actions) {
  return [actions](const rc::Random& random, int) {
    return rc::shrinkable::shrinkRecur(
        draw_script(rc::Random(random).next(), actions), [](const Script& script) {
          return rc::seq::concat(without_parts(script), with_smaller_numbers(script));
        });
  };
}

} // namespace datastream::model_test
