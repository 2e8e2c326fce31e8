// What tools that show a store ask of it.
extension OpaqueOperationStore {
  /// The type of the operation without its modifiers, as text.
  package var operationKind: String { "\(self.runtime.unmodifiedOperationType)" }

  /// Whether the operation may run other than by a call.
  package var allowsAutomaticRuns: Bool { self.runtime.allowsAutomaticRuns }

  /// The number of optimistic updates on top of the value.
  package var layerCount: Int { self.runtime.withMachine { $0.layers.count } }

  /// Cancels the runs under way.
  package func cancelRuns() { _ = self.runtime.cancelRuns() }
}
