import CoreFixtures
import FoundationEssentials
import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// The context: a value with typed entries.
@Suite(.bounded, .warningsAreIssues)
struct OperationContextTests {
  @Test
  func `Entries have their defaults until they are set`() {
    var context = OperationContext()
    expect(context[NumberKey.self], equals: 0)
    expect(context.greeting, equals: "hello")
    context[NumberKey.self] = 4
    context.greeting += ", world"
    expect(context[NumberKey.self], equals: 4)
    expect(context.greeting, equals: "hello, world")
  }

  @Test
  func `A context is a value`() {
    var first = OperationContext()
    first[NumberKey.self] = 1
    var second = first
    second[NumberKey.self] = 2
    second.greeting = "ho"
    expect(first[NumberKey.self], equals: 1)
    expect(first.greeting, equals: "hello")
    expect(second[NumberKey.self], equals: 2)
  }

  @Test
  func `An entry may hold nothing on purpose`() {
    var context = OperationContext()
    expect(context[OptionalKey.self], equals: 3)
    context[OptionalKey.self] = nil
    expect(context[OptionalKey.self], equals: nil)
  }

  @Test
  func `A description shows what is set`() {
    var context = OperationContext()
    let empty = context.description
    context[NumberKey.self] = 4_711
    context.greeting = "good morning"
    #expect(context.description.contains("4711"))
    #expect(context.description.contains("good morning"))
    #expect(!empty.contains("4711"))
    expect(context.description, equals: "OperationContext(Number = 4711, Greeting = good morning)")
    expect("\(context)", equals: context.description)
  }

  @Test
  func `Many entries do not get in each other's way`() {
    var context = OperationContext()
    context[ListKey<Int>.self] = [1]
    context[ListKey<String>.self] = ["a"]
    context[ListKey<Bool>.self] = [true]
    context[ListKey<Int>.self].append(2)
    expect(context[ListKey<Int>.self], equals: [1, 2])
    expect(context[ListKey<String>.self], equals: ["a"])
    expect(context[ListKey<Bool>.self], equals: [true])
    #expect(context[ListKey<Double>.self].isEmpty)
  }

  @Test
  func `The core's entries have their defaults`() {
    let context = OperationContext()
    #expect(context.operationClient == nil)
    #expect(context.runningOperationStore == nil)
    expect(context.operationResultUpdateReason, equals: nil)
    expect(context.operationRunningTaskIdentifier, equals: nil)
    #expect(context.operationControllers.isEmpty)
    expect(context.operationTaskConfiguration.name, equals: nil)
    expect(context.operationTaskConfiguration.priority, equals: nil)
    #expect(!context.automaticRunningSpecification.isSatisfied(in: context))
    let before = Date()
    #expect(context.operationClock.now() >= before)
  }

  @Test
  func `Entries can be written`() {
    var context = OperationContext()
    context.operationResultUpdateReason = .yieldedResult
    context.automaticRunningSpecification = .always(true)
    context.operationTaskConfiguration.name = "n"
    context.operationClock = .timeFreeze(Date(timeIntervalSinceReferenceDate: 5))
    expect(context.operationResultUpdateReason, equals: .yieldedResult)
    #expect(context.automaticRunningSpecification.isSatisfied(in: context))
    expect(context.operationTaskConfiguration.name, equals: "n")
    expect(context.operationClock.now().timeIntervalSinceReferenceDate, equals: 5)
  }
}

/// What of a context a run sees.
@Suite(.bounded, .warningsAreIssues)
struct RunContextTests {
  private let script = IntScript()

  @Test
  func `Entries that a call sets replace those of the store for that run alone`() async throws {
    let query = self.script.query().context {
      $0[NumberKey.self] = 1
      $0.greeting = "store"
    }
    let store = IntStore.detached(query: query)
    var overlay = OperationContext()
    overlay[NumberKey.self] = 2
    let fetch = Task { [overlay] in try await store.fetch(using: overlay) }
    let run = try await self.script.next()
    expect(run.context[NumberKey.self], equals: 2)
    expect(run.context.greeting, equals: "store")
    run.succeed(1)
    _ = try await fetch.finished()
    expect(store.context[NumberKey.self], equals: 1)
    let task = store.fetchTask(using: overlay)
    expect(task.context[NumberKey.self], equals: 2)
    expect(task.context.greeting, equals: "store")
  }

  @Test
  func `An entry that a call sets to its default replaces that of the store`() async throws {
    let store = IntStore.detached(query: self.script.query().context { $0[NumberKey.self] = 1 })
    var overlay = OperationContext()
    overlay[NumberKey.self] = NumberKey.defaultValue
    let fetch = Task { [overlay] in try await store.run(using: overlay) }
    let run = try await self.script.next()
    expect(run.context[NumberKey.self], equals: 0)
    run.succeed(1)
    _ = try await fetch.finished()
  }

  @Test
  func `The clock of a call dates what its run brings`() async throws {
    let store = IntStore.detached(query: self.script.query())
    let date = Date(timeIntervalSinceReferenceDate: 99)
    var overlay = OperationContext()
    overlay.operationClock = .timeFreeze(date)
    self.script.enqueue(.value(1))
    try await store.fetch(using: overlay)
    expect(store.valueLastUpdatedAt, equals: date)
  }

  @Test
  func `A yield may bring a context of its own`() async throws {
    let store = IntStore.detached(query: self.script.query().context { $0.greeting = "store" })
    let seen = Log<String>()
    let subscription = store.subscribe(
      with: QueryEventHandler(
        onResultReceived: { _, context in seen.append("\(context[NumberKey.self]) \(context.greeting)") }
      )
    )
    defer { subscription.cancel() }
    let fetch = Task { try await store.fetch() }
    let run = try await self.script.next()
    var context = OperationContext()
    context[NumberKey.self] = 5
    context.operationClock = .timeFreeze(Date(timeIntervalSinceReferenceDate: 42))
    run.yield(1, using: context)
    expect(store.valueLastUpdatedAt?.timeIntervalSinceReferenceDate, equals: 42)
    run.succeed(2)
    _ = try await fetch.finished()
    expect(seen.all, equals: ["5 store", "0 store"])
  }

  @Test
  func `A context from an event does not stop the clock of the store that it is given`() {
    let clock = ManualClock()
    let store = IntStore.detached(query: self.script.query().manualTime(clock))
    let subscription = store.subscribe(
      with: QueryEventHandler { state, context in
        guard state.currentValue == 1 else { return }
        var context = context
        context[NumberKey.self] = 8
        store.context = context
      }
    )
    defer { subscription.cancel() }
    store.currentValue = 1
    clock.advance(by: .seconds(10))
    store.currentValue = 2
    expect(store.context[NumberKey.self], equals: 8)
    expect(store.valueLastUpdatedAt, equals: clock.now())
    expect(store.context.operationRunningTaskIdentifier, equals: nil)
  }

  @Test
  func `A run in a run has its own identifier, and the outer one keeps its own`() async throws {
    let store = IntStore.detached(query: self.script.query())
    let outer = Task { try await store.fetch() }
    let outerRun = try await self.script.next()
    let inner = Task { try await store.fetch(using: outerRun.context) }
    let innerRun = try await self.script.next()
    let identifiers = [outerRun, innerRun].map(\.context.operationRunningTaskIdentifier)
    #expect(identifiers[0] != nil)
    #expect(identifiers[0] != identifiers[1])
    expect(store.activeTasks.map(\.id), equals: identifiers.compactMap(\.self))
    outerRun.succeed(1)
    innerRun.succeed(2)
    _ = try await (outer.finished(), inner.finished())
  }
}

extension OperationContext {
  var greeting: String {
    get { self[GreetingKey.self] }
    set { self[GreetingKey.self] = newValue }
  }

  private enum GreetingKey: Key {
    static let defaultValue = "hello"
  }
}

private enum OptionalKey: OperationContext.Key {
  static let defaultValue: Int? = 3
}

private enum ListKey<Element: Sendable>: OperationContext.Key {
  static var defaultValue: [Element] { [] }
}
