//! The list of the runtime's services: a new service is one more line here.

use crate::model::ids::ServiceId;
use crate::node::NodeService;
use crate::pe::{MOST_SERVICES, Service};
use crate::services::{
    again, aggregation, array, audience, broadcast, migration, names, quiescence, reactor, readonly,
    reduction, section, seeds, shutdown, survey, sync, tags, timers,
};

/// All services, by their numbers. They are told of elements in this order: a service that puts something into an element's parcel stands
/// before `array`, which sends the parcel.
pub(crate) static SERVICES: &[Service] = LIST;

const LIST: &[Service] = &[
    broadcast::SERVICE,
    section::SERVICE,
    reduction::SERVICE,
    aggregation::SERVICE,
    quiescence::SERVICE,
    readonly::SERVICE,
    tags::SERVICE,
    sync::SERVICE,
    array::SERVICE,
    audience::SERVICE,
    timers::SERVICE,
    reactor::SERVICE,
    survey::SERVICE,
    shutdown::SERVICE,
    names::SERVICE,
    migration::SERVICE,
    again::SERVICE,
    seeds::SERVICE,
];

/// The services' functions on nodes, by the services' numbers.
pub(crate) static NODE_SERVICES: [NodeService; LIST.len()] = {
    let mut rows = [NodeService::NONE; LIST.len()];
    let mut number = 0;
    assert!(LIST.len() <= MOST_SERVICES);
    while number < LIST.len() {
        let ServiceId(id) = LIST[number].id;
        assert!(id as usize == number, "a service stands in the list where its number says");
        rows[number] = LIST[number].node;
        number += 1;
    }
    rows
};
