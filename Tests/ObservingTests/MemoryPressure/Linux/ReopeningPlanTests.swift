#if os(Linux)
  import TestFixtures
  import Testing

  @testable import OperationMemoryPressure

  @Suite(.bounded) struct ReopeningPlanTests {
    private static let manager = StallSource.serviceManager(path: "/run/manager", writing: [])
    private static let group = StallSource.file("/own/memory.pressure")

    @Test func `The first reopening is due soon, and refuses nothing`() {
      var plan = ReopeningPlan(pause: .seconds(10))
      #expect(!plan.isDue(at: .seconds(100)))
      plan.note(gone: Self.manager, at: .seconds(100), delay: .seconds(2))
      #expect(!plan.isDue(at: .milliseconds(101_999)))
      #expect(plan.isDue(at: .seconds(102)))
      #expect(plan.refused.isEmpty)
      plan.reopen(at: .seconds(102))
      #expect(!plan.isDue(at: .seconds(200)))
    }

    @Test func `A source that is lost again soon is refused, and the next reopening is delayed`() {
      var plan = ReopeningPlan(pause: .seconds(10))
      plan.note(gone: Self.manager, at: .seconds(100), delay: .seconds(2))
      plan.reopen(at: .seconds(102))
      plan.note(gone: Self.manager, at: .seconds(103), delay: .seconds(2))
      expect(plan.refused, equals: [Self.manager])
      #expect(!plan.isDue(at: .milliseconds(111_999)))
      #expect(plan.isDue(at: .seconds(112)))
      plan.reopen(at: .seconds(112))
      plan.note(gone: Self.group, at: .seconds(112), delay: .seconds(2))
      expect(plan.refused, equals: [Self.manager, Self.group])
      expect(plan.due, equals: .seconds(122))
    }

    @Test func `A source that lasts longer is used again`() {
      var plan = ReopeningPlan(pause: .seconds(10))
      for round in 1...3 {
        let time = Duration.seconds(100 * round)
        plan.note(gone: Self.group, at: time, delay: .seconds(2))
        // The second trigger of the group, and its counters.
        plan.note(gone: Self.group, at: time + .seconds(1), delay: .seconds(2))
        plan.note(gone: nil, at: time + .seconds(1), delay: .seconds(2))
        expect(plan.due, equals: time + .seconds(2))
        plan.reopen(at: time + .seconds(2))
      }
      #expect(plan.refused.isEmpty)
    }

    @Test func `Counters that are lost repeatedly are not reopened more often either`() {
      var plan = ReopeningPlan(pause: .seconds(10))
      plan.reopen(at: .seconds(100))
      plan.note(gone: nil, at: .seconds(101), delay: .seconds(2))
      expect(plan.due, equals: .seconds(110))
      #expect(plan.refused.isEmpty)
    }
  }
#endif
