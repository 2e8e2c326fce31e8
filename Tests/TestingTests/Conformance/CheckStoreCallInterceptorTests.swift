import OperationCore
import OperationTesting
import Synchronization
import TestFixtures
import Testing

@Suite(.bounded, .issuesAreExpected) struct CheckStoreCallInterceptorTests {
  @Test func `Sound interceptors keep the rules`() async throws {
    try await checkStoreCallInterceptor { BrokenInterceptor(.none) }
    try await checkStoreCallInterceptor(answeringAfter: .seconds(1)) { PatientInterceptor() }
  }

  private static let faults: [(StoreCallInterceptorRule, BrokenInterceptor.Fault, [String])] = [
    (
      .answering, .hangsAfterFailure,
      Array(
        repeating: """
          Waited 0.2 seconds for each of three calls to get an answer after their run has failed. Return the answer of \
          `proceed()`, or another one.
          """,
        count: 3
      )
    ),
    (
      .outcome, .answersZero,
      [
        """
        the run of the first call returned 1, and the caller got 0. Return the answer of `proceed()` if there is nothing \
        better.
        """,
        """
        the run of a store without a value failed, and the caller got 0. Return the answer of `proceed()` if there is \
        nothing better.
        """,
      ]
    ),
    (
      .cancellation, .proceedsElsewhere,
      [
        """
        Waited 0.2 seconds for run 1 of a scripted operation to be cancelled; it goes on. Call `proceed()` in the task of \
        the call, where the cancellation reaches it.
        """,
        """
        Waited 0.2 seconds for a cancelled call to end. Call `proceed()` in the task of the call, where the cancellation \
        reaches it.
        """,
      ]
    ),
    (
      .ownership, .racesWithCancellation,
      [
        """
        a run returned 2 after its caller was answered, and the state has 1. Wait with `proceed(within:)`, and answer \
        without ending that wait by a cancellation.
        """
      ]
    ),
    (
      .nesting, .runsPastOthers,
      [
        """
        the interceptor inside got the first call of a store 0 times, and the one outside got 1. Pass the call on with \
        `proceed()`, and return that answer.
        """,
        """
        Waited 0.2 seconds for run 3 of a scripted operation to be cancelled; it goes on. Call `proceed()` in the task of \
        the call, where the cancellation reaches it.
        """,
        """
        Waited 0.2 seconds for a cancelled call to end inside of another interceptor. Call `proceed()` in the task of the \
        call, where the cancellation reaches it.
        """,
      ]
    ),
    (
      .independence, .remembersFirstValue,
      [
        """
        the run of store 2 returned 2, and its first caller got 1. Keep what belongs to a store by its path, or make an \
        interceptor for each store.
        """
      ]
    ),
  ]

  @Test(arguments: faults.indices)
  func `Each broken rule is found`(index: Int) async throws {
    let (rule, fault, issues) = Self.faults[index]
    let expected = issues.map { "The call interceptor breaks the rule '\(rule)': \($0)" }
    let found = try await recordedIssues(expecting: .all(expected)) { limit in
      try await checkStoreCallInterceptor([rule], answeringAfter: fault.patience, within: limit) {
        BrokenInterceptor(fault)
      }
    }
    expect(found, equals: expected)
  }

  @Test func `Each rule has a double that breaks it`() {
    expect(Set(Self.faults.map(\.0)), equals: Set(StoreCallInterceptorRule.allCases))
  }

  @Test func `Exceptions are not checked`() async throws {
    try await checkStoreCallInterceptor(except: [.outcome, .nesting, .independence]) { BrokenInterceptor(.answersZero) }
  }
}

/// Answers with the value of the state if a run takes longer than a second.
private final class PatientInterceptor: StoreCallInterceptor {
  nonisolated(nonsending) func call(_ call: StoreCall) async -> StoreCallAnswer {
    if let answer = await call.proceed(within: .seconds(1)) { return answer }
    return if let last = call.answerWithState() { last } else { await call.proceed() }
  }
}

/// An interceptor with one fault.
private final class BrokenInterceptor: StoreCallInterceptor {
  enum Fault {
    case none, hangsAfterFailure, answersZero, proceedsElsewhere, racesWithCancellation, runsPastOthers
    case remembersFirstValue

    var patience: Duration? { self == .racesWithCancellation ? .seconds(1) : nil }
  }

  private let fault: Fault
  private let firstValue = Mutex<Int?>(nil)

  init(_ fault: Fault) {
    self.fault = fault
  }

  nonisolated(nonsending) func call(_ call: StoreCall) async -> StoreCallAnswer {
    switch self.fault {
    case .none: return await call.proceed()
    case .hangsAfterFailure:
      let answer = await call.proceed()
      if answer.outcome.error is CancellationError || answer.outcome.error == nil { return answer }
      await self.wait()
      return answer
    case .answersZero:
      let answer = await call.proceed()
      return answer.outcome.isCancellation ? answer : call.answer(0) ?? answer
    case .proceedsElsewhere: return await Task { await call.proceed() }.value
    case .racesWithCancellation: return await self.race(call)
    case .runsPastOthers:
      guard let store = call.store.store else { return await call.proceed() }
      do {
        let value = try await Task { try await store.runTask().runIfNeeded() }.value
        if let value = value as? Int, let answer = call.answer(value) { return answer }
      } catch {
        if let answer = call.answer(throwing: error) { return answer }
      }
      return await call.proceed()
    case .remembersFirstValue:
      if let value = self.firstValue.withLock({ $0 }) {
        let answer = await call.proceed()
        return call.answer(value) ?? answer
      }
      let answer = await call.proceed()
      self.firstValue.withLock { $0 = $0 ?? answer.outcome.value(as: Int.self) }
      return answer
    }
  }

  /// Waits until the task is cancelled.
  private nonisolated(nonsending) func wait() async {
    let (silence, continuation) = AsyncStream<Never>.makeStream()
    for await _ in silence {}
    continuation.finish()
  }

  /// Ends the wait for the run after a second by cancelling it.
  private nonisolated(nonsending) func race(_ call: StoreCall) async -> StoreCallAnswer {
    let wait = Task.immediate { await call.proceed() }
    let deadline = call.context.operationDeadlines.schedule(after: .seconds(1)) { wait.cancel() }
    let answer = await wait.value
    deadline.cancel()
    return answer.outcome.isCancellation ? call.answerWithState() ?? answer : answer
  }
}
