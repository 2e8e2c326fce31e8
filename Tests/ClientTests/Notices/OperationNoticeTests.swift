import OperationCore
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues) struct OperationNoticeTests {
  @Test func `A notice tells the operation, its path and the facts`() async throws {
    let log = NoticeLog()
    let script = OperationScript<Int, any Error>(default: .value(1))
    let query = script.query(path: ["posts", 1])
      .announcing(.tested, attributes: ["test.limit": .duration(.seconds(2))])
      .onNotice(log.receive)
    try await expect(OperationStore.detached(query: query).fetch(), equals: 1)
    let notice = try #require(log.all.first)
    expect(log.all.count, equals: 1)
    #expect(notice.name == .tested && notice.operationName == query.operationName && notice.path == ["posts", 1])
    expect(notice.attributes["test.limit"], equals: .duration(.seconds(2)))
    expect(notice.description, equals: "test.done \(query.operationName) test.limit=2 s")
  }

  @Test func `A body may send a notice as it ends`() async throws {
    let log = NoticeLog()
    let query = QueryOperation<Int, any Error>("posts", 1) { context in
      defer { context.send(OperationNotice(.tested)) }
      return 1
    }
    try await expect(OperationStore.detached(query: query.onNotice(log.receive)).fetch(), equals: 1)
    expect(log.names, equals: [.tested])
  }

  @Test func `Observers are called in order, those of the client first`() async throws {
    let log = Log<String>()
    let client = OperationClient()
    client.defaultContext.operationNoticeObservers.append(NamedObserver("client", log))
    let script = OperationScript<Int, any Error>(default: .value(1))
    let query = script.query().announcing(.tested)
      .onNotice { _, _ in log.append("inner") }
      .onNotice { _, _ in log.append("outer") }
    _ = try await client.store(for: query).fetch()
    expect(log.all, equals: ["client", "inner", "outer"])
  }

  @Test func `Observers of a call are added to those of the store, and none is called twice`() async throws {
    let log = Log<String>()
    let observer = NamedObserver("shared", log)
    var storeContext = OperationContext()
    storeContext.operationNoticeObservers = [observer, NamedObserver("store", log)]
    let script = OperationScript<Int, any Error>(default: .value(1))
    let store = OperationStore.detached(query: script.query().announcing(.tested), initialContext: storeContext)
    var context = OperationContext()
    context.operationNoticeObservers = [observer, NamedObserver("call", log)]
    _ = try await store.fetch(using: context)
    expect(log.all, equals: ["store", "shared", "call"])
    _ = try await store.fetch()
    expect(log.all, equals: ["store", "shared", "call", "shared", "store"])
  }

  @Test func `A context of a call without observers leaves those of the store`() async throws {
    let log = Log<String>()
    let script = OperationScript<Int, any Error>(default: .value(1))
    let query = script.query().announcing(.tested).onNotice { _, _ in log.append("store") }
    var context = OperationContext()
    context.operationTaskConfiguration.name = "call"
    _ = try await OperationStore.detached(query: query).fetch(using: context)
    expect(log.all, equals: ["store"])
  }

  // Without observers it is made only while somebody in the process reads events, which another test may do.
  @Test func `A notice is made once for all observers`() {
    var count = 0
    func notice() -> OperationNotice {
      count += 1
      return OperationNotice(.tested)
    }
    var context = OperationContext()
    context.operationNoticeObservers.append(NamedObserver("one", Log()))
    context.operationNoticeObservers.append(NamedObserver("two", Log()))
    context.send(notice())
    expect(count, equals: 1)
  }

  @Test func `An observer may send notices itself`() {
    let log = NoticeLog()
    var context = OperationContext()
    context.operationNoticeObservers.append(Echo(log))
    context.send(OperationNotice(.tested, attributes: ["test.flag": .flag(true)]))
    expect(log.names, equals: [.tested, .echoed])
    expect(log.descriptions, equals: ["test.done test.flag=true", "test.echo"])
    #expect(log.all.allSatisfy { $0.operationName == nil && $0.path == nil })
  }

  @Test func `A notice may name an operation, or tell a level`() {
    let named = OperationNotice(.tested, ofOperationNamed: "Send", attributes: ["test.flag": .flag(false)])
    #expect(named.operationName == "Send" && named.path == nil && named.level == nil)
    expect(named.description, equals: "test.done Send test.flag=false")
    let level = OperationNotice(.tested, level: 3)
    #expect(level.level == 3 && level.operationName == nil && level.attributes.isEmpty)
    expect(level.description, equals: "test.done level=3")
  }

  @Test func `An observer stands for others, and a context that has it is not written`() {
    let log = Log<String>()
    let (kept, first, second) = (Echo(NoticeLog()), NamedObserver("first", log), NamedObserver("second", log))
    var context = OperationContext()
    context.operationNoticeObservers = [first, kept, first]
    context.observeNotices(with: second) { $0 is NamedObserver }
    expect(
      context.operationNoticeObservers.map(ObjectIdentifier.init),
      equals: [kept, second].map(ObjectIdentifier.init)
    )
    context.observeNotices(with: second) { $0 is NamedObserver }
    expect(
      context.operationNoticeObservers.map(ObjectIdentifier.init),
      equals: [kept, second].map(ObjectIdentifier.init)
    )
  }

  @Test func `Observers go with the context`() async throws {
    let lifetimes = LifetimeTracker()
    do {
      let token = lifetimes.token()
      let script = OperationScript<Int, any Error>(default: .value(1))
      let query = script.query().announcing(.tested).onNotice { _, _ in token.touch() }
      _ = try await OperationStore.detached(query: query).fetch()
    }
    try await lifetimes.noneAlive()
  }
}

extension OperationNotice.Name {
  fileprivate static let tested = Self("test.done")
  fileprivate static let echoed = Self("test.echo")
}

private final class NamedObserver: OperationNoticeObserver {
  private let name: String
  private let log: Log<String>

  init(_ name: String, _ log: Log<String>) {
    self.name = name
    self.log = log
  }

  func receive(_ notice: OperationNotice, in context: OperationContext) {
    self.log.append(self.name)
  }
}

/// Answers a notice with another one.
private final class Echo: OperationNoticeObserver {
  private let log: NoticeLog

  init(_ log: NoticeLog) {
    self.log = log
  }

  func receive(_ notice: OperationNotice, in context: OperationContext) {
    self.log.receive(notice, in: context)
    if notice.name == .tested { context.send(OperationNotice(.echoed)) }
  }
}
