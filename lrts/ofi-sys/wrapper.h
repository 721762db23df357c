/* What abi.rs was generated from, with the headers of libfabric 1.17 (Debian 12: libfabric-dev, bindgen). The command is
 * in src/lib.rs. */
#include <rdma/fabric.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_rma.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_eq.h>
#include <rdma/fi_errno.h>
