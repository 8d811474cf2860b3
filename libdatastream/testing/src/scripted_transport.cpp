#include <datastream/testing/scripted_transport.hpp>
