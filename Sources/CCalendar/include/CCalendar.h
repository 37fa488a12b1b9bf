// Events of an iCalendar text (RFC 5545) within a span of time, by libical. Knows nothing of files.
#ifndef ALCOVE_CALENDAR_H
#define ALCOVE_CALENDAR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    // As the file has it; null for none. Good during the call only.
    const char *title;
    // Seconds since 1970 in UTC. Of a whole-day event: midnight of its first day and of the day after its last, where the
    // device is.
    int64_t start, end;
    bool is_all_day;
} alcove_calendar_event;

typedef enum {
    ALCOVE_CALENDAR_OK = 0,
    // The text is no calendar.
    ALCOVE_CALENDAR_UNREADABLE = 1,
    // Some recurrence was given up: it goes on too long without an end in sight.
    ALCOVE_CALENDAR_ENDLESS = 2,
} alcove_calendar_result;

// Tells every event that overlaps [from, to). `zone` is the device's time zone ("Europe/Berlin"); null or unknown is UTC. One thread at a time.
alcove_calendar_result alcove_calendar_events(
    const char *text, int64_t from, int64_t to, const char *zone,
    void (*tell)(const alcove_calendar_event *event, void *context), void *context);

#endif
