import OperationCore
import OperationDedupe
import OperationDerivation
import OperationStreams
import OperationTesting
import TestFixtures
import Testing

@Suite(.bounded, .warningsAreIssues)
struct CycleTests {
  let client = OperationClient.automatic()

  /// Queries that each read the next one, and the last the first.
  private func ring(of count: Int, isShared: Bool) -> [@Sendable () -> AnyQuery] {
    @Sendable func query(_ number: Int) -> AnyQuery {
      let query = QueryOperation<Int, any Error>("q\(number)") { context in
        try await context.value(of: query((number + 1) % count)) + 1
      }
      .derived()
      return AnyQuery(isShared ? AnyQuery(query.deduplicated()) : AnyQuery(query))
    }
    return (0..<count).map { number in { query(number) } }
  }

  @Test(arguments: [1, 2, 10], [false, true])
  func `A cycle is reported with its names, and is the error of all in it`(_ count: Int, _ isShared: Bool) async throws
  {
    let ring = self.ring(of: count, isShared: isShared)
    let recorder = WarningRecorder()
    await recorder.recording {
      let error = await #expect(throws: OperationCycleError.self) {
        try await self.client.store(for: ring[0]()).fetch()
      }
      expect(error?.operationNames, equals: (0...count).map { "q\($0 % count)" })
    }
    expect(recorder.warnings.map(\.code), equals: [.taskCycle])
  }

  @Test
  func `A cycle of an operation whose failure cannot represent it returns the last value`() async throws {
    let store = self.client.store(for: Looped().derived())
    store.currentValue = 5
    await expect(expectWarning(.taskCycle) { await store.fetch() }, equals: 6)
  }

  @Test
  func `A cycle without a value and without a failure that represents it is a programmer's error`() async {
    await #expect(processExitsWith: .failure) {
      let client = OperationClient.automatic()
      _ = await client.store(for: Looped().derived()).fetch()
    }
  }

  @Test
  func `Queries that read each other in turn are no cycle`() async throws {
    let flag = Cell("flag", 0)
    @Sendable func query(_ number: Int) -> AnyQuery {
      let query = QueryOperation<Int, any Error>("q\(number)") { context in
        let reader = try await context.value(of: flag.query)
        return reader == number ? try await context.value(of: query(1 - number)) + 10 : number
      }
      .derived()
      return AnyQuery(query)
    }
    let shown = (0..<2).map { Shown(self.client.store(for: query($0))) }
    let recorder = WarningRecorder()
    await recorder.recording {
      for number in [1, 0, 1] {
        self.client.store(for: flag.query).currentValue = number
        await self.client.settledDerivations()
      }
    }
    #expect(recorder.warnings.isEmpty)
    expect(shown[0].all.last, equals: 0)
    expect(shown[1].all.last, equals: 10)
  }

  // MARK: - States

  /// Queries that each read the next one, and the last the first: those with a number in `states` by its state.
  private func ring(of count: Int, states: Set<Int>, _ calls: Counter) -> [@Sendable () -> AnyQuery] {
    @Sendable func query(_ number: Int) -> AnyQuery {
      let query = QueryOperation<Int, any Error>("q\(number)") { context in
        calls.increment()
        let next = query((number + 1) % count)
        if !states.contains(number) { return try await context.value(of: next) + 1 }
        return (context.states(of: next).currentValue ?? 0) + 1
      }
      .derived()
      return AnyQuery(query)
    }
    return (0..<count).map { number in { query(number) } }
  }

  @Test
  func `A query that reads its own state is reported, and ends`() async throws {
    let calls = Counter()
    let query = self.ring(of: 1, states: [0], calls)[0]()
    let store = self.client.store(for: query)
    let recorder = WarningRecorder()
    try await recorder.recording {
      let shown = Shown(store)
      await self.client.settledDerivations()
      expect(shown.all, equals: [1])
      // The next run builds on the value of the one before.
      try await store.fetch()
      await self.client.settledDerivations()
      expect(shown.all, equals: [1, 2])
    }
    expect(calls.value, equals: 2)
    expect(recorder.warnings.map(\.code), equals: [.taskCycle])
    expect(recorder.warnings.first?.message.contains("q0 → q0"), equals: true)
  }

  @Test(arguments: [(2, [0, 1]), (2, [1]), (3, [0, 1, 2]), (5, [2])] as [(Int, Set<Int>)])
  func `A cycle of states is reported, and ends`(_ count: Int, _ states: Set<Int>) async throws {
    let calls = Counter()
    let ring = self.ring(of: count, states: states, calls)
    let recorder = WarningRecorder()
    await recorder.recording {
      let shown = ring.map { Shown(self.client.store(for: $0())) }
      await self.client.settledDerivations()
      let first = calls.value
      await self.client.invalidate().settled()
      await self.client.settledDerivations()
      #expect(first < 100 * count && calls.value < 200 * count)
      #expect(shown.allSatisfy { !$0.all.isEmpty })
    }
    expect(Set(recorder.warnings.map(\.code)), equals: [.taskCycle])
    #expect(recorder.warnings.count <= count)
    let names = (0..<2 * count).map { "q\($0 % count)" }
    let circles = states.map { number in names[number...(number + count)].joined(separator: " → ") }
    for warning in recorder.warnings { #expect(circles.contains { warning.message.contains($0) }) }
  }

  @Test
  func `Queries that read each other's state in turn are no cycle`() async throws {
    let flag = Cell("flag", 0)
    @Sendable func query(_ number: Int) -> AnyQuery {
      let query = QueryOperation<Int, any Error>("q\(number)") { context in
        let reader = try await context.value(of: flag.query)
        return reader == number ? (context.states(of: query(1 - number)).currentValue ?? 0) + 10 : number
      }
      .derived()
      return AnyQuery(query)
    }
    let recorder = WarningRecorder()
    await recorder.recording {
      let shown = (0..<2).map { Shown(self.client.store(for: query($0))) }
      for number in [1, 0, 1, 0, 1, 0, 1] {
        self.client.store(for: flag.query).currentValue = number
        await self.client.settledDerivations()
      }
      expect(shown.map(\.all.last), equals: [0, 10])
    }
    #expect(recorder.warnings.isEmpty)
  }
}

/// A query of any kind, so that queries can refer to each other.
struct AnyQuery: QueryRequest {
  private let base: any QueryRequest<Int, any Error>

  init(_ base: some QueryRequest<Int, any Error>) {
    self.base = base
  }

  var path: OperationPath { self.base.path }
  var operationName: String { self.base.operationName }

  func setup(context: inout OperationContext) {
    self.base.setup(context: &context)
  }

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    try await self.base.run(isolation: isolation, in: context, with: continuation)
  }
}

/// A derived query that reads itself and never fails.
private struct Looped: QueryRequest, Hashable {
  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, Never>
  ) async -> Int {
    await context.value(of: Looped().derived()) + 1
  }
}
