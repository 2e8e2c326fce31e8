import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct AttemptNumberTests {
  @Test func `Attempts count from 1, for the operation and for handlers`() async throws {
    let numbers = Mutex<[Int]>([])
    let received = Log<Int>()
    let work = Work<Int, any Error> { context, _ in
      let count = numbers.withLock { numbers in
        numbers.append(context.operationAttempt)
        return numbers.count
      }
      guard count > 2 else { throw Refused(code: count) }
      return count
    }
    var context = OperationContext.withoutDelays
    context.onNextAttempt { next, error in
      received.append(next.operationAttempt * 10 + ((error as? Refused)?.code ?? 0))
    }
    try await expect(work.retry(limit: 5).runWithoutSetup(in: context), equals: 3)
    expect(numbers.withLock { $0 }, equals: [1, 2, 3])
    expect(received.all, equals: [21, 32])
  }

  @Test func `An operation that another one runs in its second attempt begins with its first`() async throws {
    let inner = Attempts()
    let numbers = Mutex<[Int]>([])
    let body = Work<Int, any Error> { context, _ in
      numbers.withLock { $0.append(context.operationAttempt) }
      guard inner.note(context) > 1 else { throw Refused() }
      return 1
    }
    let outer = Work<Int, any Error> { context, _ in
      guard context.operationAttempt == 2 else { throw Refused() }
      return try await body.retry(limit: 1).runOnce(in: context)
    }
    try await expect(outer.retry(limit: 1).runOnce(), equals: 1)
    expect(numbers.withLock { $0 }, equals: [1, 2])
  }
}
