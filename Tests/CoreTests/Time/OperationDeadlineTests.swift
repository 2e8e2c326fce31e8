import OperationCore
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct OperationDeadlineTests {
  private let clock = ManualClock()

  private var context: OperationContext {
    var context = OperationContext()
    context.use(self.clock)
    return context
  }

  @Test func `There is no deadline unless one is set`() {
    expect(self.context.operationDeadline, equals: nil)
    expect(self.context.operationTimeRemaining, equals: nil)
  }

  @Test func `The remaining time is that of the injected clock`() {
    var context = self.context
    let deadline = self.clock.instant + .seconds(10)
    context.operationDeadline = deadline
    expect(context.operationDeadline, equals: deadline)
    expect(context.operationTimeRemaining, equals: .seconds(10))
    self.clock.advance(by: .seconds(4))
    expect(context.operationTimeRemaining, equals: .seconds(6))
    self.clock.advance(by: .seconds(7))
    expect(context.operationTimeRemaining, equals: .zero)
    context.operationDeadline = nil
    expect(context.operationTimeRemaining, equals: nil)
  }

  @Test func `The first request of an instant ties a manual clock to the continuous clock`() {
    self.clock.advance(by: .seconds(3600))
    let before = ContinuousClock.now
    let instant = self.clock.instant
    #expect(before <= instant && instant <= .now)
    self.clock.advance(by: .seconds(1))
    expect(self.clock.instant, equals: instant + .seconds(1))
  }

  @Test func `The system's source has the instants of the continuous clock`() {
    let before = ContinuousClock.now
    let instant = SystemDeadlineSource().instant
    #expect(before <= instant && instant <= .now)
    var context = OperationContext()
    context.operationDeadline = .now + .seconds(3600)
    expect(context.operationTimeRemaining.map { $0 > .seconds(3500) && $0 <= .seconds(3600) }, equals: true)
  }

  @Test func `A source of a user's own has instants without further code`() {
    let source = FixedSource(elapsed: .seconds(5))
    expect(source.instant - FixedSource(elapsed: .seconds(2)).instant, equals: .seconds(3))
  }

  @Test func `Deadlines far away and long ago do not trap`() {
    var context = self.context
    context.operationDeadline = self.clock.instant.advanced(by: .seconds(Int64.max))
    expect(context.operationTimeRemaining, equals: .seconds(Int64.max))
    context.operationDeadline = self.clock.instant.advanced(by: .seconds(Int64.min))
    expect(context.operationTimeRemaining, equals: .zero)
  }

  private struct FixedSource: DeadlineSource {
    let elapsed: Duration

    func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> OperationSubscription {
      .empty
    }
  }
}
