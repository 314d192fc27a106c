#pragma once
#include "FreeRTOS.h"
struct tskTaskControlBlock;
using TaskHandle_t = tskTaskControlBlock *;
using TaskFunction_t = void (*)(void *);
extern "C" {
BaseType_t xTaskCreatePinnedToCore(TaskFunction_t function, const char *name, uint32_t stack, void *parameters,
                                   UBaseType_t priority, TaskHandle_t *created, BaseType_t core);
BaseType_t xTaskNotifyGive(TaskHandle_t task);
uint32_t ulTaskNotifyTake(BaseType_t clear, TickType_t wait);
BaseType_t xPortGetCoreID();
}
