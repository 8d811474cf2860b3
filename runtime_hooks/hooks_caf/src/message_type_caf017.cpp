#include <datastream/hooks_caf/message_type_caf017.hpp>

namespace datastream::detail {

std::string message_type_name(const caf::local_actor& self, const caf::mailbox_element& element) {
  const caf::type_erased_tuple& content = element.content();
  const caf::uniform_type_info_map& types = self.system().types();
  std::string name = "(";
  for (std::size_t i = 0; i < content.size(); ++i) {
    name += i > 0 ? ", " : "";
    const auto type = content.type(i);
    name += is_atom(content, i) ? caf::to_string(content.get_as<caf::atom_value>(i))
                                : types.portable_name(type.first, type.second);
  }
  return name + ")";
}

} // namespace datastream::detail
