/// Adds facts to the inspections of a store, and so to its explanations.
///
/// The modifiers of the operation are asked, its controllers, observers and interceptors, and the entries of
/// ``OperationContext/operationExplainers``, each if it conforms:
///
/// ```swift
/// extension Quota: OperationExplaining {
///   func explain(_ store: OpaqueOperationStore, in inspection: inout StoreInspection) {
///     inspection.sections.append(.init(title: "Quota", facts: ["\(self.rest) calls left"]))
///   }
/// }
/// ```
public protocol OperationExplaining {
  /// Adds to an inspection. Called with no lock held.
  ///
  /// - Parameters:
  ///   - store: The store.
  ///   - inspection: The inspection, with the parts that the store itself knows. No secret may be added to it.
  func explain(_ store: OpaqueOperationStore, in inspection: inout StoreInspection)
}

extension OperationStore {
  /// Reads what the store is and does at this moment, and asks modifiers and modules for their facts.
  ///
  /// - Returns: The inspection with its ``StoreInspection/sections``.
  /// - Complexity: O(*n*) in the number of subscribers, runs, layers, staleness rules and modifiers.
  public func inspectWithSections() -> StoreInspection {
    OpaqueOperationStore(erasing: self).inspectWithSections()
  }
}

extension OpaqueOperationStore {
  /// Reads what the store is and does at this moment, and asks modifiers and modules for their facts.
  ///
  /// - Returns: The inspection with its ``StoreInspection/sections``.
  /// - Complexity: O(*n*) in the number of subscribers, runs, layers, staleness rules and modifiers.
  public func inspectWithSections() -> StoreInspection {
    var inspection = self.inspect()
    for explainer in self.explainers(in: inspection.context) { explainer.explain(self, in: &inspection) }
    return inspection
  }

  /// The objects that add facts to an inspection, each once.
  private func explainers(in context: OperationContext) -> [any OperationExplaining] {
    let parts: [any Sendable] =
      context.operationControllers + context.operationExplainers + self.runtime.ownObservers
      + context.callInterceptors
    // One object may be found in several places.
    var known: Set<ObjectIdentifier> = []
    let uniqueParts = parts.filter { part in
      type(of: part) is AnyClass ? known.insert(ObjectIdentifier(part as AnyObject)).inserted : true
    }
    return self.runtime.operation.storage.anyOperation.modifiers.compactMap { $0 as? any OperationExplaining }
      + uniqueParts.compactMap { $0 as? any OperationExplaining }
  }
}

extension OperationContext {
  /// Further objects that add facts to the inspections of the operation's stores. Empty by default.
  public var operationExplainers: [any OperationExplaining & Sendable] {
    get { self[ExplainersKey.self] }
    set { self[ExplainersKey.self] = newValue }
  }

  private enum ExplainersKey: Key {
    static let defaultValue: [any OperationExplaining & Sendable] = []
  }
}
