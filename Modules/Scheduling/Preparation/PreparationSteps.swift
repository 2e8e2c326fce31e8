public import OperationCore

/// The conditions and categories of a preparation. Not generic, so that the code for them is compiled once.
@usableFromInline
final class PreparationSteps: Sendable {
  let conditions: [any OperationCondition]
  let lanes: [CategoryLane]
  /// The slots of the categories.
  let slots: [Int]
  @usableFromInline let hasConditions: Bool
  @usableFromInline let hasCategories: Bool
  /// The longest wait for the categories; nil for as long as it takes.
  let maximumWait: Duration?

  static let none = PreparationSteps(conditions: [], lanes: [], maximumWait: nil)

  init(conditions: [any OperationCondition], lanes: [CategoryLane], maximumWait: Duration?) {
    self.maximumWait = maximumWait
    self.conditions = conditions
    self.lanes = lanes
    self.slots = lanes.map(\.slot)
    self.hasConditions = !conditions.isEmpty
    self.hasCategories = !lanes.isEmpty
  }

  /// The steps with a condition after the others, and with its categories.
  func adding(_ condition: any OperationCondition) -> PreparationSteps {
    PreparationSteps(conditions: self.conditions + [condition], lanes: self.lanes, maximumWait: self.maximumWait)
      .adding(CategoryLane.lanes(of: condition.exclusionCategories))
  }

  /// The steps with further categories, without duplicates.
  func adding(_ lanes: [CategoryLane]) -> PreparationSteps {
    let new = lanes.filter { lane in !self.lanes.contains { $0 === lane } }
    if new.isEmpty { return self }
    return PreparationSteps(conditions: self.conditions, lanes: self.lanes + new, maximumWait: self.maximumWait)
  }

  /// The steps with a longest wait. All categories are taken at once, so the shortest one counts for all of them.
  func waiting(atMost wait: Duration) -> PreparationSteps {
    let shortest = min(wait, self.maximumWait ?? wait)
    return PreparationSteps(conditions: self.conditions, lanes: self.lanes, maximumWait: shortest)
  }
}

extension PreparationSteps {
  /// The modifiers as they are written.
  var sourceText: String {
    let conditions = self.conditions.map { ".condition(\(type(of: $0)))" }.joined()
    let categories = self.lanes.map(\.category.description).joined(separator: ", ")
    let wait = self.maximumWait.map { ", maximumWait: \($0.roundedText)" } ?? ""
    return conditions + (categories.isEmpty ? "" : ".mutuallyExclusive(\(categories)\(wait))")
  }
}

/// Why a preparation does not let an operation run.
@usableFromInline
enum PreparationRefusal: Sendable {
  /// The condition with this index has denied it with this error.
  case denied(Int, any Error)
  /// The condition with this index has skipped it.
  case skipped(Int)
  case cancelled
}

extension PreparationSteps {
  /// Runs the generated work, and evaluates the conditions in order.
  @usableFromInline
  func check(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    canLeave: Bool
  ) async -> PreparationRefusal? {
    var errors = GeneratedWorkErrors()
    for index in self.conditions.indices {
      let condition = self.conditions[index]
      guard let work = await condition.dependency(in: context) else { continue }
      if canLeave, Task.isCancelled { return .cancelled }
      if let error = await work.runAsDependency(isolation: isolation, in: context) {
        errors.add(error, of: work, for: condition, at: index, in: context)
      }
    }
    var skipped: Int?
    for index in self.conditions.indices {
      if canLeave, Task.isCancelled { return .cancelled }
      switch await self.conditions[index].evaluate(in: errors.context(context, at: index)) {
      case .satisfied: continue
      case .skipped: skipped = skipped ?? index
      case .denied(let error): return .denied(index, error)
      }
    }
    if let skipped { return .skipped(skipped) }
    return canLeave && Task.isCancelled ? .cancelled : nil
  }

  func skipped(by index: Int) -> OperationSkipped {
    OperationSkipped(reason: self.conditions[index].conditionName)
  }

  /// Takes the categories if that needs no waiting.
  @usableFromInline
  func tryEnter(_ operationType: any OperationRequest.Type) -> RunScope? {
    let scope = RunScope(parent: .current, operationType: operationType)
    return ExclusionLock.tryEnter(scope, self.slots) ? scope : nil
  }

  /// Gives the categories back.
  @usableFromInline
  func leave(_ scope: RunScope) {
    ExclusionLock.leave(scope, self.slots)
  }
}
