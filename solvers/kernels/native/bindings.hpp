// The functions that each folder exposes to Python; module.cpp calls them.
#pragma once

#include <nanobind/nanobind.h>

namespace memplan {

void bind_births(nanobind::module_& m);
void bind_displace(nanobind::module_& m);
void bind_follow(nanobind::module_& m);
void bind_greedy(nanobind::module_& m);
void bind_lowering(nanobind::module_& m);  // improve, beam and gluing
void bind_plain(nanobind::module_& m);  // open divisions, lifted covers, crowds
void bind_search(nanobind::module_& m);

}  // namespace memplan
