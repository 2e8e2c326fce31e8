import OperationCore
import OperationTesting
import TestFixtures
import Testing

@testable import OperationScheduling

@Suite(.bounded, .warningsAreIssues)
struct ExclusionTests {
  private enum Alert {}

  private let script = Script()
  private let log = Log<String>()
  private let names = Names()

  /// An operation that logs its name when it begins, and then waits for a gate.
  private func work(_ name: String, _ gate: Gate) -> AnyWork {
    Work(name) { [log] _ in
      log.append(name)
      try await gate.wait()
    }
  }

  @Test func `Runs of one category run one at a time, in the order in which they came`() async throws {
    let operations = [
      self.script.operation().mutuallyExclusive(self.names("x")),
      self.script.operation().mutuallyExclusive(self.names("x")),
    ]
    let runs = (0..<6).map { operations[$0 % 2].begin() }
    for number in 0..<6 {
      let run = try await self.script.next()
      expect(self.script.activeRunCount, equals: 1)
      // A run that fails admits the next one.
      if number == 2 { run.fail(Refused()) } else { run.succeed(number) }
    }
    for (number, run) in runs.enumerated() where number != 2 { try await expect(run.value, equals: number) }
    await #expect(throws: Refused.self) { try await runs[2].value }
  }

  @Test func `Categories of other names and of other types are apart`() async throws {
    let operation = self.script.operation()
    let runs = [
      operation.mutuallyExclusive(self.names("a")).begin(), operation.mutuallyExclusive(self.names("b")).begin(),
      operation.mutuallyExclusive(1).begin(), operation.mutuallyExclusive(UInt8(1)).begin(),
      operation.mutuallyExclusive(Alert.self).begin(), operation.mutuallyExclusive(self.names("Alert")).begin(),
    ]
    try await self.script.runs(count: 6)
    for _ in runs { try await self.script.next().succeed(1) }
    for run in runs { _ = try await run.value }
  }

  @Test func `A mutually exclusive condition names the category of its type`() async throws {
    let operation = self.script.operation()
    let runs = [
      operation.condition(MutuallyExclusive<Alert>()).begin(),
      operation.mutuallyExclusive(Alert.self).begin(),
      operation.condition(SilentCondition(MutuallyExclusive<Alert>())).begin(),
      operation.condition(Check.satisfied && MutuallyExclusive<Alert>()).begin(),
    ]
    for run in runs {
      try await self.script.next().succeed(1)
      _ = try await run.value
    }
    #expect(MutuallyExclusive<Alert>.isMutuallyExclusive)
    #expect(!Check.isMutuallyExclusive)
  }

  @Test func `A condition that says it is mutually exclusive makes its operations run one at a time`() async throws {
    struct Reachable: OperationCondition {
      static var isMutuallyExclusive: Bool { true }
      func evaluate(in context: OperationContext) async -> OperationConditionResult { .satisfied }
    }
    let runs = (0..<2).map { _ in self.script.operation().condition(Reachable()).begin() }
    for run in runs {
      let scripted = try await self.script.next()
      expect(self.script.activeRunCount, equals: 1)
      scripted.succeed(1)
      _ = try await run.value
    }
  }

  @Test func `Categories are taken after the conditions, so a denied run takes none`() async throws {
    let gate = Gate()
    let holder = self.work("holder", gate).mutuallyExclusive(self.names("x")).begin()
    let denied = self.script.operation().mutuallyExclusive(self.names("x")).condition(Check.denied(1))
    await #expect(throws: Refused(code: 1)) { try await denied.runOnce() }
    gate.open()
    try await holder.value
  }

  @Test func `A waiter that is cancelled leaves at once and admits no other early`() async throws {
    let operation = self.script.operation().mutuallyExclusive(self.names("x"))
    let runs = (0..<4).map { _ in operation.begin() }
    let first = try await self.script.next()
    for number in [1, 2] {
      runs[number].cancel()
      await #expect(throws: CancellationError.self) { try await runs[number].value }
      expect(self.script.runCount, equals: 1)
    }
    first.succeed(0)
    try await self.script.next().succeed(3)
    try await expect(runs[3].value, equals: 3)
    expect(self.script.runCount, equals: 2)
  }

  @Test func `A cancelled waiter of two categories admits the runs that wait for the free one of them`() async throws {
    let gate = Gate()
    let holder = self.work("holder", gate).mutuallyExclusive(self.names("a")).begin()
    let both = self.work("both", gate).mutuallyExclusive(self.names("a"), self.names("b")).begin()
    let second = self.script.operation().mutuallyExclusive(self.names("b")).begin()
    let third = self.script.operation().mutuallyExclusive(self.names("a")).begin()
    // `both` came first, so the second waits for it, although its category is free.
    expect(self.script.runCount, equals: 0)
    both.cancel()
    await #expect(throws: CancellationError.self) { try await both.value }
    try await self.script.next().succeed(2)
    try await expect(second.value, equals: 2)
    expect(self.script.runCount, equals: 1)
    gate.open()
    try await holder.value
    try await self.script.next().succeed(3)
    try await expect(third.value, equals: 3)
    expect(self.log.all, equals: ["holder"])
  }

  @Test func `A cancelled waiter whose failure cannot represent a cancellation keeps its place`() async throws {
    let gate = Gate()
    let log = self.log
    let operation = Work<Int, OnlyFailure> { _ throws(OnlyFailure) in
      log.append("run")
      await gate.waitIgnoringCancellation()
      if Task.isCancelled { throw .other }
      return 1
    }.mutuallyExclusive(self.names("x"))
    let first = operation.begin()
    let second = operation.begin()
    second.cancel()
    expect(self.log.all, equals: ["run"])
    gate.open()
    try await expect(first.value, equals: 1)
    await #expect(throws: OnlyFailure.other) { try await second.value }
    expect(self.log.all, equals: ["run", "run"])
  }

  @Test func `Runs with the same categories in any order do not wait for each other in a cycle`() async throws {
    let counter = InsideCounter()
    let body: @Sendable (OperationContext) async throws -> Void = { _ in
      counter.enter()
      await elsewhere()
      counter.leave()
    }
    let orders = [["a", "b", "c"], ["c", "b", "a"], ["b", "c"], ["c", "b"], ["a"], ["b", "a"]]
    await withTaskGroup { group in
      for number in 0..<600 {
        let order = orders[number % orders.count].map { self.names($0) }
        group.addTask {
          try? await AnyWork("work", body).prepared { $0.add(order) }.runOnce()
        }
      }
    }
    expect(counter.entered, equals: 600)
  }

  @Test func `Categories of two modifiers in different orders are taken at once`() async throws {
    let gates = [Gate(), Gate()]
    let first = self.work("first", gates[0]).mutuallyExclusive(self.names("location")).mutuallyExclusive(
      self.names("authorization")
    )
    let second = self.work("second", gates[1]).mutuallyExclusive(self.names("authorization")).mutuallyExclusive(
      self.names("location")
    )
    let runs = [first.begin(), second.begin()]
    gates[0].open()
    gates[1].open()
    for run in runs { try await run.value }
    expect(self.log.all, equals: ["first", "second"])
  }

  @Test func `A category that is released in any way admits the next run`() async throws {
    let failing = Work<Int, any Error> { _ in throw Refused() }.mutuallyExclusive(self.names("x"))
    await #expect(throws: Refused.self) { try await failing.runOnce() }
    let cancelled = self.script.operation().mutuallyExclusive(self.names("x")).begin()
    _ = try await self.script.next()
    cancelled.cancel()
    await #expect(throws: CancellationError.self) { try await cancelled.value }
    let last = self.script.operation().mutuallyExclusive(self.names("x")).begin()
    try await self.script.next().succeed(5)
    try await expect(last.value, equals: 5)
  }

  @Test func `Categories hold across clients and stores`() async throws {
    let stores = (0..<2).map { number in
      OperationClient().store(
        for: self.script.query(path: ["q", number]).mutuallyExclusive(self.names("db")),
        initialValue: 0
      )
    }
    let fetches = stores.map { store in Task.immediate { try await store.fetch() } }
    for fetch in fetches {
      let run = try await self.script.next()
      expect(self.script.activeRunCount, equals: 1)
      run.succeed(1)
      _ = try await fetch.value
    }
  }

  @Test func `Ten thousand runs wait for one category and are admitted in order`() async throws {
    let count = 10_000
    let gate = Gate()
    let holder = self.work("holder", gate).mutuallyExclusive(self.names("many")).begin()
    let order = Log<Int>()
    let runs = (0..<count).map { number in
      Work<Void, any Error> { _ in order.append(number) }.mutuallyExclusive(self.names("many")).begin()
    }
    for number in stride(from: 1, to: count, by: 2) { runs[number].cancel() }
    for number in stride(from: 1, to: count, by: 2) {
      await #expect(throws: CancellationError.self) { try await runs[number].value }
    }
    gate.open()
    try await holder.value
    for number in stride(from: 0, to: count, by: 2) { try await runs[number].value }
    expect(order.all, equals: Array(stride(from: 0, to: count, by: 2)))
  }

  @Test func `A category that is created while it is looked up has one lane`() {
    struct Key: Hashable, Sendable {
      let name: String
      /// Called once, by a comparison.
      let hook: Box<(@Sendable () -> Void)?>

      static func == (lhs: Key, rhs: Key) -> Bool {
        lhs.hook.replace(with: nil)?()
        return lhs.name == rhs.name
      }

      func hash(into hasher: inout Hasher) { hasher.combine(1) }
    }
    let hook = Box<(@Sendable () -> Void)?>(nil)
    let early = Box<CategoryLane?>(nil)
    // Its hash is that of the other one, so a look-up compares them, in the place of another thread here.
    let other = CategoryLane.lanes(of: [OperationCategory(Key(name: "other", hook: hook))])
    hook.value = { early.value = CategoryLane.lanes(of: [OperationCategory(Key(name: "one", hook: hook))])[0] }
    for _ in 0..<2 {
      let lane = CategoryLane.lanes(of: [OperationCategory(Key(name: "one", hook: hook))])[0]
      #expect(lane === early.value)
    }
    hook.value = nil
    withExtendedLifetime(other) {}
  }

  @Test func `A category is forgotten with the last operation that names it`() async throws {
    struct Key: Hashable, Sendable {
      let token: LifetimeTracker.Token
      static func == (lhs: Key, rhs: Key) -> Bool { lhs.token === rhs.token }
      func hash(into hasher: inout Hasher) { hasher.combine(1) }
    }
    let lifetimes = LifetimeTracker()
    do {
      let (one, two) = (Key(token: lifetimes.token()), Key(token: lifetimes.token()))
      let operation = self.script.operation()
      let runs = [
        operation.mutuallyExclusive(one).begin(), operation.mutuallyExclusive(two).begin(),
        operation.mutuallyExclusive(one, two).begin(),
      ]
      // Equal hashes alone do not make two categories one.
      try await self.script.runs(count: 2)
      for _ in runs { try await self.script.next().succeed(1) }
      for run in runs { _ = try await run.value }
    }
    try await lifetimes.noneAlive()
  }
}
