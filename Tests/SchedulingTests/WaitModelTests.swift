import OperationCore
import OperationScheduling
import OperationTesting
import TestFixtures
import Testing

/// Random operations that wait for each other in every way: all of them end, and a cycle is reported where there is one.
@Suite(.bounded, .warningsAreIssues)
struct WaitModelTests {
  @Test(arguments: 0..<100)
  func `Waits for values and dependencies are reported if and only if they close a cycle`(_ seed: Int) async throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let program = Program.ofValuesAndDependencies(using: &random)
    let cycles = try await program.run()
    expect((cycles > 0), equals: program.hasCycle, "\(program)")
  }

  @Test(arguments: 0..<100)
  func `Waits in a common order are never reported`(_ seed: Int) async throws {
    var random = SeededGenerator(seed: UInt64(seed))
    let program = Program.inCommonOrder(using: &random)
    try await expect(program.run(), equals: 0, "\(program)")
  }

  @Test(arguments: 0..<200)
  func `Whatever waits for whatever, all operations end`(_ seed: Int) async throws {
    var random = SeededGenerator(seed: UInt64(seed))
    _ = try await Program.ofAnyWaits(using: &random).run()
  }
}

/// What an operation does while it runs.
private indirect enum Step: Sendable {
  case value(of: Int)
  case empty(scheduler: Int)
  /// Steps in a child task.
  case child([Step])
  /// Steps with a category held.
  case category(Int, [Step])
  /// Steps as unique work.
  case unique(Int, [Step])

  /// The operations whose values these steps wait for.
  static func awaited(in steps: [Step]) -> [Int] {
    steps.flatMap { step -> [Int] in
      switch step {
      case .value(let number): return [number]
      case .empty: return []
      case .child(let steps), .category(_, let steps), .unique(_, let steps): return Self.awaited(in: steps)
      }
    }
  }
}

/// Operations in two schedulers, with what each of them waits for.
private struct Program: Sendable {
  struct Node: Sendable {
    var scheduler: Int
    var dependencies: [Int] = []
    var steps: [Step] = []
  }

  var widths: [Int]
  var nodes: [Node]

  init(using random: inout SeededGenerator) {
    self.widths = (0..<2).map { _ in [1, 2, 100].randomElement(using: &random) ?? 1 }
    self.nodes = (0..<Int.random(in: 2...7, using: &random)).map { _ in
      Node(scheduler: Int.random(in: 0..<2, using: &random))
    }
  }
}

// MARK: - Making programs

extension Program {
  static func ofValuesAndDependencies(using random: inout SeededGenerator) -> Program {
    var program = Program(using: &random)
    let count = program.nodes.count
    for _ in 0..<Int.random(in: 1...count + 2, using: &random) {
      let (node, other) = (Int.random(in: 0..<count, using: &random), Int.random(in: 0..<count, using: &random))
      switch Int.random(in: 0..<3, using: &random) {
      // One for each at most: an operation that would wait for itself has ended, and takes no further dependencies.
      case 0: program.nodes[node].dependencies = [other]
      case 1: program.nodes[node].steps.append(.value(of: other))
      default: program.nodes[node].steps.append(.child([.value(of: other)]))
      }
    }
    return program
  }

  /// An operation waits only for those with higher numbers. What it holds has its number or a higher one, and while it
  /// holds something, it waits only for what has a higher number than that.
  static func inCommonOrder(using random: inout SeededGenerator) -> Program {
    var program = Program(using: &random)
    let count = program.nodes.count
    for node in 0..<count {
      program.nodes[node].steps = Self.orderedSteps(above: node - 1, isHolding: false, count, depth: 3, using: &random)
      if node + 1 < count, Bool.random(using: &random) {
        program.nodes[node].dependencies = [Int.random(in: node + 1..<count, using: &random)]
      }
    }
    return program
  }

  private static func orderedSteps(
    above held: Int,
    isHolding: Bool,
    _ count: Int,
    depth: Int,
    using random: inout SeededGenerator
  ) -> [Step] {
    // An operation waits for the value of none but those above its own number.
    let lowestValue = isHolding ? held + 1 : held + 2
    return (0..<Int.random(in: 0...2, using: &random)).compactMap { _ in
      switch Int.random(in: 0..<4, using: &random) {
      case 0 where lowestValue < count: return .value(of: Int.random(in: lowestValue..<count, using: &random))
      case 1 where depth > 0:
        return .child(Self.orderedSteps(above: held, isHolding: isHolding, count, depth: depth - 1, using: &random))
      case 2 where depth > 0 && held + 1 < count, 3 where depth > 0 && held + 1 < count:
        let number = Int.random(in: held + 1..<count, using: &random)
        let steps = Self.orderedSteps(above: number, isHolding: true, count, depth: depth - 1, using: &random)
        return Bool.random(using: &random) ? .category(number, steps) : .unique(number, steps)
      default: return nil
      }
    }
  }

  static func ofAnyWaits(using random: inout SeededGenerator) -> Program {
    var program = Program(using: &random)
    let count = program.nodes.count
    for node in 0..<count {
      program.nodes[node].steps = Self.anySteps(count, depth: 3, using: &random)
      if Int.random(in: 0..<3, using: &random) == 0 {
        program.nodes[node].dependencies = [Int.random(in: 0..<count, using: &random)]
      }
    }
    return program
  }

  private static func anySteps(_ count: Int, depth: Int, using random: inout SeededGenerator) -> [Step] {
    (0..<Int.random(in: 0...2, using: &random)).map { _ in
      let steps = depth == 0 ? [] : Self.anySteps(count, depth: depth - 1, using: &random)
      return switch Int.random(in: 0..<6, using: &random) {
      case 0: .empty(scheduler: Int.random(in: 0..<2, using: &random))
      case 1: .child(steps)
      case 2: .category(Int.random(in: 0..<2, using: &random), steps)
      case 3: .unique(Int.random(in: 0..<2, using: &random), steps)
      default: .value(of: Int.random(in: 0..<count, using: &random))
      }
    }
  }

  /// Whether the waits for values and the dependencies close a cycle.
  var hasCycle: Bool {
    let edges = self.nodes.map { $0.dependencies + Step.awaited(in: $0.steps) }
    return self.nodes.indices.contains { start in
      var (found, next) = (Set(edges[start]), edges[start])
      while let node = next.popLast() {
        for other in edges[node] where found.insert(other).inserted { next.append(other) }
      }
      return found.contains(start)
    }
  }
}

// MARK: - Running programs

extension Program {
  /// Runs the operations until all have ended, and returns the number of cycles that were reported.
  func run() async throws -> Int {
    let recorder = WarningRecorder()
    try await recorder.recording {
      try await withTimeLimit("the operations to end: \(self)") {
        let runner = ProgramRunner(program: self)
        await runner.run()
      }
    }
    expect(recorder.warnings.filter { $0.code != .taskCycle }.map(\.message), equals: [], "\(self)")
    return recorder.warnings.count
  }
}

private struct ProgramRunner: Sendable {
  let program: Program
  let schedulers: [OperationScheduler]
  let names = Names()
  let gate = Gate()
  let operations = Log<ScheduledOperation<Void>>()

  init(program: Program) {
    self.program = program
    self.schedulers = program.widths.enumerated().map { number, width in
      OperationScheduler(maximumConcurrentOperations: width, name: "S\(number)")
    }
  }

  func run() async {
    for scheduler in self.schedulers { scheduler.suspend() }
    for (number, node) in self.program.nodes.enumerated() {
      let operation = ClosureOperation<Void>("\(number)") { _ in
        try await self.gate.wait()
        await self.perform(node.steps)
      }
      self.operations.append(self.schedulers[node.scheduler].schedule(operation))
    }
    let operations = self.operations.all
    for (number, node) in self.program.nodes.enumerated() {
      for dependency in node.dependencies { operations[number].addDependency(operations[dependency]) }
    }
    self.gate.open()
    for scheduler in self.schedulers { scheduler.resume() }
    for operation in operations { _ = try? await operation.value }
    for scheduler in self.schedulers { await scheduler.waitUntilEmpty() }
    // Nothing is held any more.
    for number in self.program.nodes.indices { await self.perform([.category(number, [.unique(number, [])])]) }
  }

  private func perform(_ steps: [Step]) async {
    for step in steps {
      switch step {
      case .value(let number): _ = try? await self.operations.all[number].value
      case .empty(let number): await self.schedulers[number].waitUntilEmpty()
      case .child(let steps): await withTaskGroup { group in group.addTask { await self.perform(steps) } }
      case .category(let number, let steps):
        let work = ClosureOperation<Void>("category \(number)") { _ in await self.perform(steps) }
        _ = try? await work.mutuallyExclusive(self.names("category \(number)")).runOnce()
      case .unique(let number, let steps):
        let work = ClosureOperation<Void>("unique \(number)") { _ in await self.perform(steps) }
        _ = try? await work.unique(self.names("unique \(number)"), policy: .append).runOnce()
      }
    }
  }
}
