#pragma once
#include <cstdio>
#define ESP_LOGE(tag, ...) (printf("%s: ", tag), printf(__VA_ARGS__))
