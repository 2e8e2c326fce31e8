import CoreFixtures
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// What stores, states, clients and subscriptions print.
@Suite(.bounded, .warningsAreIssues)
struct DescriptionTests {
  @Test
  func `A state prints its status, its value and its error in one line`() {
    var state = QueryState<String, any Error>()
    expect("\(state)", equals: "QueryState(idle, no value)")
    state.update(with: .success("a\nb"), using: OperationContext())
    expect("\(state)", equals: "QueryState(success, value a b)")
    state.update(with: .failure(Refused(code: 3)), using: OperationContext())
    expect("\(state)", equals: "QueryState(failure, value a b, error Refused(code: 3))")
    state.update(with: .success(String(repeating: "x", count: 10_000)), using: OperationContext())
    #expect("\(state)".count < 300)
    var text = ""
    dump(state, to: &text)
    #expect(text.contains("valueUpdateCount: 2"))
  }

  @Test
  func `A store, its erased form, a subscription and the client print what they are`() async throws {
    let client = OperationClient()
    let script = IntScript()
    let store = client.store(for: script.automaticQuery(path: ["posts", 1]), initialValue: 2)
    _ = client.store(for: IntScript().query(path: ["other"]))
    let subscription = store.subscribe(with: IntRecorder().handler)
    let run = try await script.next()

    let line = "OperationStore(\(store.path): loading, value 2, 1 subscriber)"
    expect("\(store)", equals: line)
    expect("\(OpaqueOperationStore(erasing: store))", equals: line)
    expect("\(OpaqueOperationStore(erasing: store).state)", equals: "QueryState(loading, value 2)")
    expect("\(subscription)", equals: "OperationSubscription(active, to \(line))")
    expect("\(client)", equals: "OperationClient(2 stores, 1 loading)")
    subscription.cancel()
    try await run.cancelled()
    expect("\(subscription)", equals: "OperationSubscription(cancelled)")
    expect("\(OperationSubscription {})", equals: "OperationSubscription(active)")
  }

  @Test
  func `A notice prints its durations rounded`() {
    let attributes: [String: OperationNotice.Value] = [
      "pause.duration": .duration(.milliseconds(3926)), "retry.count": .integer(2),
    ]
    let notice = OperationNotice(.runResumed, ofOperationNamed: "posts", attributes: attributes)
    expect("\(notice)", equals: "\(OperationNotice.Name.runResumed) posts pause.duration=3.9 s retry.count=2")
  }

  @Test
  func `A query is made of a closure without a parameter`() async throws {
    let query = QueryOperation("numbers", 1) { 5 }
    let typed = QueryOperation<Int, Refused>("numbers", 2) { () throws(Refused) in throw Refused(code: 2) }
    try await expect(OperationClient().store(for: query).fetch(), equals: 5)
    await #expect(throws: Refused(code: 2)) { try await OperationClient().store(for: typed).fetch() }
    expect(query.operationName, equals: "numbers")
  }
}
