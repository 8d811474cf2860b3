#include "submission_ring_impl.hpp"

namespace datastream {

template class BasicSubmissionRing<RingPolicy>;

} // namespace datastream
