#pragma once
/// Everything that a CAF program needs to publish its stream and to read others.

#include <datastream/actors/consumer_actor.hpp>
#include <datastream/actors/endpoint.hpp>
#include <datastream/actors/endpoint_ref.hpp>
#include <datastream/actors/fanout_actor.hpp>
#include <datastream/actors/publisher_actor.hpp>
#include <datastream/actors/registry.hpp>
#include <datastream/actors/remote.hpp>
#include <datastream/actors/settings.hpp>
#include <datastream/actors/subscriber.hpp>
#include <datastream/actors/thread_subscription.hpp>
#include <datastream/actors/type_ids.hpp>
#include <datastream/pipe/producer.hpp>
#include <datastream/pipe/subscription.hpp>

#include <caf/actor_system.hpp>
#include <caf/actor_system_config.hpp>
#include <caf/event_based_actor.hpp>
#include <caf/exec_main.hpp>
#include <caf/scoped_actor.hpp>
#include <caf/send.hpp>
