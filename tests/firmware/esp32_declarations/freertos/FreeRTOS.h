#pragma once
#include <cstdint>
using BaseType_t = int;
using UBaseType_t = unsigned int;
using TickType_t = uint32_t;
#define pdTRUE static_cast<BaseType_t>(1)
#define pdPASS pdTRUE
#define configTICK_RATE_HZ 1000
#define pdMS_TO_TICKS(ms) static_cast<TickType_t>((static_cast<uint64_t>(ms) * configTICK_RATE_HZ) / 1000U)
