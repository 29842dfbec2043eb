#pragma once

#include <nanobind/nanobind.h>

namespace memplan {

void bind_improve(nanobind::module_& m);

}  // namespace memplan
