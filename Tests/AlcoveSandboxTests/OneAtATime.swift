import Testing

/// Tests that measure time or load the machine, and would disturb each other.
@Suite(.serialized) enum OneAtATime {}
