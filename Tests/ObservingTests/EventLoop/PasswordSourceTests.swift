#if os(Linux)
  import OperationCore
  import OperationEventLoop
  import OperationTesting
  import TestFixtures
  import Testing

  @Suite(.bounded) struct PasswordSourceTests {
    private let clock = ManualClock()

    @Test func `A source is asked each time`() async throws {
      let calls = Counter()
      let source = PasswordSource({ "\(calls.increment())" }, deadlines: self.clock)
      try await expect(source.password(within: .seconds(1)), equals: "1")
      try await expect(source.password(within: .seconds(1)), equals: "2")
      expect(self.clock.sleeperCount(), equals: 0)
    }

    @Test func `A source that throws is told with its error`() async throws {
      let source = PasswordSource({ throw Refused() }, deadlines: self.clock)
      let failure = await #expect(throws: PasswordSource.Failure.self) {
        try await source.password(within: .seconds(1))
      }
      expect(
        failure?.reason.hasPrefix("the closure for its password threw"),
        equals: true,
        "\(String(describing: failure))"
      )
    }

    @Test func `A source that takes too long is left and cancelled`() async throws {
      let (isCalled, isCancelled) = (Gate(), Gate())
      let source = PasswordSource(
        {
          isCalled.open()
          await withTaskCancellationHandler {
            try? await isCancelled.wait()
          } onCancel: {
            isCancelled.open()
          }
          return "late"
        },
        deadlines: self.clock
      )
      let password = Task { try await source.password(within: .seconds(3)) }
      try await isCalled.wait()
      try await self.clock.sleepers(count: 1)
      self.clock.advance(by: .seconds(3))
      let result = await password.result
      let failure = #expect(throws: PasswordSource.Failure.self) { try result.get() }
      expect(failure?.reason, equals: "the closure for its password has not returned within 3.0 seconds")
      try await isCancelled.wait()
    }
  }
#endif
