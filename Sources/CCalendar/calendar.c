#include "CCalendar.h"

#include <libical/ical.h>
#include <stdlib.h>
#include <string.h>

// Occurrences of one event that are stepped over at most: a rule that begins in 1970 and repeats each hour has 500,000.
enum { STEPS = 200000 };

typedef struct {
    icalcomponent *calendar;
    icaltimezone *local;
    int64_t from, to;
    void (*tell)(const alcove_calendar_event *, void *);
    void *context;
    int steps;
} span;

// Where a time is: its own zone as this calendar or the system knows it, else where the device is.
static icaltimezone *zone_of(const span *span, icalproperty *property, icaltimetype time) {
    if (icaltime_is_utc(time)) return icaltimezone_get_utc_timezone();
    icalparameter *parameter = icalproperty_get_first_parameter(property, ICAL_TZID_PARAMETER);
    const char *name = parameter ? icalparameter_get_tzid(parameter) : NULL;
    if (name == NULL) return span->local;
    icaltimezone *zone = icalcomponent_get_timezone(span->calendar, name);
    if (zone == NULL) zone = icaltimezone_get_builtin_timezone(name);
    if (zone == NULL) zone = icaltimezone_get_builtin_timezone_from_tzid(name);
    return zone != NULL ? zone : span->local;
}

static int64_t seconds(icaltimetype time, icaltimezone *zone) { return (int64_t)icaltime_as_timet_with_zone(time, zone); }

// Moments, or days as 20261231, at which a recurrence does not take place. Looked up for every occurrence, so they are worked
// out once: a time zone is found by comparing some six hundred names.
typedef struct {
    int64_t *values;
    size_t count, room;
} exceptions;

static int64_t day_number(icaltimetype time) { return time.year * 10000L + time.month * 100L + time.day; }

static void add_exception(exceptions *list, const span *span, icalproperty *property, icaltimetype time) {
    if (icaltime_is_null_time(time)) return;
    if (list->count == list->room) {
        size_t room = list->room == 0 ? 16 : list->room * 2;
        int64_t *values = realloc(list->values, room * sizeof *values);
        if (values == NULL) return;
        list->values = values;
        list->room = room;
    }
    list->values[list->count++] = time.is_date ? day_number(time) : seconds(time, zone_of(span, property, time));
}

static int compare(const void *a, const void *b) {
    int64_t first = *(const int64_t *)a, second = *(const int64_t *)b;
    return first < second ? -1 : first > second;
}

// What an event excludes, and what other events of its name stand in the place of.
static exceptions exceptions_of(const span *span, icalcomponent *event) {
    exceptions list = {NULL, 0, 0};
    icalproperty *property = icalcomponent_get_first_property(event, ICAL_EXDATE_PROPERTY);
    for (; property != NULL; property = icalcomponent_get_next_property(event, ICAL_EXDATE_PROPERTY)) {
        add_exception(&list, span, property, icalproperty_get_exdate(property));
    }
    const char *uid = icalcomponent_get_uid(event);
    icalcompiter other = icalcomponent_begin_component(span->calendar, ICAL_VEVENT_COMPONENT);
    for (; uid != NULL && icalcompiter_deref(&other) != NULL; icalcompiter_next(&other)) {
        icalcomponent *candidate = icalcompiter_deref(&other);
        property = icalcomponent_get_first_property(candidate, ICAL_RECURRENCEID_PROPERTY);
        const char *name = property ? icalcomponent_get_uid(candidate) : NULL;
        if (name != NULL && strcmp(name, uid) == 0) {
            add_exception(&list, span, property, icalproperty_get_recurrenceid(property));
        }
    }
    if (list.count > 1) qsort(list.values, list.count, sizeof *list.values, compare);
    return list;
}

static bool has(const exceptions *list, int64_t value) {
    return list->count > 0 && bsearch(&value, list->values, list->count, sizeof value, compare) != NULL;
}

// A moment of our time is a larger number than any day.
static bool is_exception(const exceptions *list, icaltimetype time, int64_t moment) {
    return has(list, moment) || has(list, day_number(time));
}

static void tell(const span *span, icalcomponent *event, int64_t start, int64_t end, bool is_all_day) {
    // One without length is there at its moment.
    if (start >= span->to || (end > start ? end <= span->from : start < span->from)) return;
    alcove_calendar_event found = {icalcomponent_get_summary(event), start, end, is_all_day};
    span->tell(&found, span->context);
}

static void tell_occurrence(
    const span *span, icalcomponent *event, icaltimetype time, icaltimezone *zone, struct icaldurationtype length) {
    // Days are counted in days and hours in seconds, so that a day on which clocks change is one day all the same.
    int64_t start = seconds(time, zone);
    int64_t end = time.is_date ? seconds(icaltime_add(time, length), zone) : start + icaldurationtype_as_int(length);
    tell(span, event, start, end, time.is_date);
}

// How long an event lasts; a whole-day event without an end lasts a day.
static struct icaldurationtype length_of(const span *span, icalcomponent *event, icaltimetype start, icaltimezone *zone) {
    icalproperty *property = icalcomponent_get_first_property(event, ICAL_DTEND_PROPERTY);
    if (property != NULL) {
        icaltimetype end = icalproperty_get_dtend(property);
        if (start.is_date) return icaltime_subtract(end, start);
        int64_t lasting = seconds(end, zone_of(span, property, end)) - seconds(start, zone);
        return icaldurationtype_from_int(lasting < 0 || lasting > 3660 * 86400L ? 0 : (int)lasting);
    }
    property = icalcomponent_get_first_property(event, ICAL_DURATION_PROPERTY);
    if (property != NULL) return icalproperty_get_duration(property);
    return icaldurationtype_from_int(start.is_date ? 86400 : 0);
}

// Days and moments that are added to a recurrence by themselves. Found before any is told: to ask an event for its title
// is to lose the place in its properties.
static void tell_added(const span *span, icalcomponent *event, icaltimetype start, struct icaldurationtype length) {
    int count = icalcomponent_count_properties(event, ICAL_RDATE_PROPERTY);
    if (count <= 0) return;
    icalproperty **added = calloc((size_t)count, sizeof *added);
    if (added == NULL) return;
    icalproperty *property = icalcomponent_get_first_property(event, ICAL_RDATE_PROPERTY);
    for (int index = 0; index < count && property != NULL; index++) {
        added[index] = property;
        property = icalcomponent_get_next_property(event, ICAL_RDATE_PROPERTY);
    }
    exceptions skipped = exceptions_of(span, event);
    for (int index = 0; index < count && added[index] != NULL; index++) {
        icaltimetype time = icalproperty_get_rdate(added[index]).time;
        if (icaltime_is_null_time(time) || icaltime_compare(time, start) == 0) continue;
        icaltimezone *place = time.is_date ? span->local : zone_of(span, added[index], time);
        if (!is_exception(&skipped, time, seconds(time, place))) tell_occurrence(span, event, time, place, length);
    }
    free(skipped.values);
    free(added);
}

static alcove_calendar_result tell_event(span *span, icalcomponent *event) {
    icalproperty *begin = icalcomponent_get_first_property(event, ICAL_DTSTART_PROPERTY);
    if (begin == NULL || icalcomponent_get_status(event) == ICAL_STATUS_CANCELLED) return ALCOVE_CALENDAR_OK;
    icaltimetype start = icalproperty_get_dtstart(begin);
    if (!icaltime_is_valid_time(start) || icaltime_is_null_time(start)) return ALCOVE_CALENDAR_OK;
    icaltimezone *zone = start.is_date ? span->local : zone_of(span, begin, start);
    struct icaldurationtype length = length_of(span, event, start, zone);
    if (length.is_neg) length = icaldurationtype_from_int(0);
    bool is_override = icalcomponent_get_first_property(event, ICAL_RECURRENCEID_PROPERTY) != NULL;
    icalproperty *rule = is_override ? NULL : icalcomponent_get_first_property(event, ICAL_RRULE_PROPERTY);
    alcove_calendar_result result = ALCOVE_CALENDAR_OK;
    if (rule == NULL) {
        tell_occurrence(span, event, start, zone, length);
    } else {
        icalrecur_iterator *step = icalrecur_iterator_new(icalproperty_get_rrule(rule), start);
        if (step == NULL) {
            tell_occurrence(span, event, start, zone, length);
            return result;
        }
        exceptions skipped = exceptions_of(span, event);
        icaltimetype next;
        while (!icaltime_is_null_time(next = icalrecur_iterator_next(step))) {
            int64_t moment = seconds(next, zone);
            if (moment >= span->to) break;
            if (span->steps++ >= STEPS) {
                result = ALCOVE_CALENDAR_ENDLESS;
                break;
            }
            if (moment + 3660 * 86400L < span->from) continue;
            if (!is_exception(&skipped, next, moment)) tell_occurrence(span, event, next, zone, length);
        }
        icalrecur_iterator_free(step);
        free(skipped.values);
    }
    if (!is_override) tell_added(span, event, start, length);
    return result;
}

alcove_calendar_result alcove_calendar_events(
    const char *text, int64_t from, int64_t to, const char *zone,
    void (*tell)(const alcove_calendar_event *event, void *context), void *context) {
    icalerror_set_errors_are_fatal(false);
    icalcomponent *root = icalparser_parse_string(text);
    if (root == NULL) return ALCOVE_CALENDAR_UNREADABLE;
    icaltimezone *local = zone != NULL ? icaltimezone_get_builtin_timezone(zone) : NULL;
    if (local == NULL) local = icaltimezone_get_utc_timezone();
    alcove_calendar_result result = ALCOVE_CALENDAR_UNREADABLE;
    // Several calendars one after the other come as the children of a root without a name.
    bool is_one = icalcomponent_isa(root) == ICAL_VCALENDAR_COMPONENT;
    icalcomponent *calendar = is_one ? root : icalcomponent_get_first_component(root, ICAL_VCALENDAR_COMPONENT);
    for (; calendar != NULL;
         calendar = is_one ? NULL : icalcomponent_get_next_component(root, ICAL_VCALENDAR_COMPONENT)) {
        if (result == ALCOVE_CALENDAR_UNREADABLE) result = ALCOVE_CALENDAR_OK;
        span span = {calendar, local, from, to, tell, context, 0};
        icalcompiter event = icalcomponent_begin_component(calendar, ICAL_VEVENT_COMPONENT);
        for (; icalcompiter_deref(&event) != NULL; icalcompiter_next(&event)) {
            if (tell_event(&span, icalcompiter_deref(&event)) != ALCOVE_CALENDAR_OK) result = ALCOVE_CALENDAR_ENDLESS;
        }
    }
    icalcomponent_free(root);
    return result;
}
