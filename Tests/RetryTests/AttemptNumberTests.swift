import OperationBackoff
import OperationCore
import OperationRetry
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@Suite(.warningsAreIssues) struct AttemptNumberTests {
  @Test func `Attempts count from 1, for the operation and for handlers`() async throws {
    let numbers = Mutex<[Int]>([])
    let heard = Mutex<[Int]>([])
    let work = Work<Int, any Error> { context, _ in
      let count = numbers.withLock { numbers in
        numbers.append(context.operationAttempt)
        return numbers.count
      }
      guard count > 2 else { throw Failed(number: count) }
      return count
    }
    var context = OperationContext.undelayed
    context.onNextAttempt { next, error in
      heard.withLock { $0.append(next.operationAttempt * 10 + ((error as? Failed)?.number ?? 0)) }
    }
    #expect(try await work.retry(limit: 5).runBare(in: context) == 3)
    #expect(numbers.withLock { $0 } == [1, 2, 3])
    #expect(heard.withLock { $0 } == [21, 32])
  }

  @Test func `An operation that another one runs in its second attempt begins with its first`() async throws {
    let inner = Attempts()
    let numbers = Mutex<[Int]>([])
    let body = Work<Int, any Error> { context, _ in
      numbers.withLock { $0.append(context.operationAttempt) }
      guard inner.note(context) > 1 else { throw Failed() }
      return 1
    }
    let outer = Work<Int, any Error> { context, _ in
      guard context.operationAttempt == 2 else { throw Failed() }
      return try await body.retry(limit: 1).runOnce(in: context)
    }
    #expect(try await outer.retry(limit: 1).runOnce() == 1)
    #expect(numbers.withLock { $0 } == [1, 2])
  }
}
