import OperationCore
import OperationTesting
import TestFixtures
import Testing

/// A kind of request that a user writes, under modifiers of any origin.
@Suite(.bounded, .warningsAreIssues)
struct OwnKindTests {
  @Test
  func `A request of an own kind stays one under modifiers`() async throws {
    let request = Readings(values: [3, 4]).doubled().stale(after: .seconds(10)).doubled().taskConfiguration { _ in }
    expect(takesMeasurement(request), equals: "lux")
    let store = OperationStore.detached(operation: request, initialState: request.emptyState)
    try await expect(store.run(), equals: 28)
    expect(store.currentValue, equals: 28)
    #expect(!store.isStale)
  }

  @Test
  func `A modifier of an own kind works on what other modifiers have made`() async throws {
    let request = Readings(values: [1]).clock(.timeFreeze()).scaled(by: 5).doubled()
    expect(takesMeasurement(request), equals: "lux")
    let store = OperationStore.detached(operation: request, initialState: request.emptyState)
    try await expect(store.run(), equals: 10)
  }

  @Test
  func `The type of a modified operation can be written as it is made`() async throws {
    let request: ModifiedOperation<Readings, Doubling<Readings>> = Readings(values: [1]).doubled()
    let same = ModifiedOperation(operation: Readings(values: [1]), modifier: Doubling())
    #expect(type(of: request) == type(of: same))
    expect(request.operation.values, equals: [1])
    expect(inner(of: request).values, equals: [1])
  }

  /// With a type that names its operation twice, this takes longer than anybody waits.
  @Test
  func `The type of a modified operation names each operation once`() {
    let five = Readings(values: [1]).doubled().doubled().doubled().doubled().doubled()
    let ten = five.doubled().doubled().doubled().doubled().doubled()
    let twenty = ten.doubled().doubled().doubled().doubled().doubled().doubled().doubled().doubled().doubled().doubled()
    expect(occurrences(of: "Readings", in: type(of: five)), equals: 1)
    expect(occurrences(of: "Readings", in: type(of: ten)), equals: 1)
    expect(occurrences(of: "Doubling", in: type(of: ten)), equals: 10)
    expect(occurrences(of: "Doubling", in: type(of: twenty)), equals: 20)
    expect(takesMeasurement(twenty), equals: "lux")
  }
}

private func takesMeasurement(_ request: some Measurement<Int>) -> String { request.unit }

private func inner<Operation, Modifier>(of request: ModifiedOperation<Operation, Modifier>) -> Operation {
  request.operation
}

private func occurrences(of name: String, in type: any Any.Type) -> Int {
  "\(type)".split { !$0.isLetter }.count { $0 == name }
}

private typealias MeasurementState<Quantity: Sendable> = QueryState<Quantity, any Error>

/// A request for a quantity in a unit.
private protocol Measurement<Quantity>: StatefulOperationRequest where State == MeasurementState<Quantity> {
  associatedtype Quantity: Sendable
  associatedtype State = MeasurementState<Quantity>

  var unit: String { get }
}

extension Measurement {
  fileprivate var emptyState: MeasurementState<Quantity> { MeasurementState(initialValue: nil) }

  fileprivate func scaled(by factor: Quantity) -> ModifiedOperation<Self, Scaling<Self>> {
    self.modifier(Scaling(factor: factor))
  }
}

extension ModifiedOperation: Measurement
where Operation: Measurement, Modifier.Value == Operation.Value, Modifier.Failure == Operation.Failure {
  fileprivate typealias Quantity = Operation.Quantity

  fileprivate var unit: String { self.operation.unit }
}

private struct Readings: Measurement {
  typealias Quantity = Int

  let values: [Int]

  var unit: String { "lux" }
  var path: OperationPath { ["readings"] }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    self.values.reduce(0, +)
  }
}

/// Doubles the values of any operation.
private struct Doubling<Operation: OperationRequest>: OperationModifier where Operation.Value == Int {
  typealias Value = Int

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Int, Operation.Failure>
  ) async throws(Operation.Failure) -> Int {
    try await 2 * operation.run(isolation: isolation, in: context, with: continuation)
  }
}

extension OperationRequest where Value == Int {
  fileprivate func doubled() -> ModifiedOperation<Self, Doubling<Self>> { self.modifier(Doubling()) }
}

/// Answers with a factor in the place of a measured one, for measurements alone.
private struct Scaling<Operation: Measurement>: OperationModifier {
  let factor: Operation.Quantity

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    using operation: Operation,
    with continuation: OperationContinuation<Operation.Quantity, any Error>
  ) async throws -> Operation.Quantity {
    _ = try await operation.run(isolation: isolation, in: context, with: continuation)
    return self.factor
  }
}
