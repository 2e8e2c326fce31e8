import Dispatch
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// Calls with two interceptors, of which the outer one waits for some time.
@Suite(.bounded, .warningsAreIssues)
struct PatienceTests {
  private let script = IntScript()

  @Test
  func `A patience that ends before the wait begins has ended, and the next wait has its own`() async throws {
    let (hasEnded, deadlines) = (Gate(), HastyDeadlines())
    let answers = Log<Int?>()
    let store = IntStore.detached(
      query: self.script.query().context {
        $0.operationDeadlines = deadlines
        $0.callInterceptors.append(
          Interceptor { call in
            answers.append(await call.proceed(within: .milliseconds(1))?.outcome.value(as: Int.self))
            hasEnded.open()
            if let answer = await call.proceed(within: .seconds(1)) {
              answers.append(answer.outcome.value(as: Int.self))
            }
            return await call.proceed()
          }
        )
        $0.callInterceptors.append(Interceptor { call in await call.proceed() })
      }
    )
    let fetch = Task.immediate { try await store.fetch() }
    let run = try await self.script.next()
    try await hasEnded.wait()
    expect(answers.all, equals: [nil])
    run.succeed(1)
    try await expect(fetch.finished(), equals: 1)
    expect(answers.all, equals: [nil, 1])
  }
}

/// Calls the action of the first deadline on another thread before the caller gets its subscription, and no other action.
private final class HastyDeadlines: DeadlineSource {
  private let isFirst = Box(true)

  var elapsed: Duration { .zero }

  func schedule(after duration: Duration, _ action: @escaping @Sendable () -> Void) -> OperationSubscription {
    guard self.isFirst.replace(with: false) else { return .empty }
    let hasFired = DispatchSemaphore(value: 0)
    DispatchQueue(label: "deadline").async {
      action()
      hasFired.signal()
    }
    #expect(hasFired.waitForSignal())
    return .empty
  }
}
