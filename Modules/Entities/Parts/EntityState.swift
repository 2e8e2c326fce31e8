internal import OperationCore
internal import OperationPagination

/// A state whose value has parts that can be edited one by one: the pages of a list, or a query's value as its only part.
protocol EntityState: OverlayableState, PartitionedOperationState, Sendable {
  /// Edits parts of a value.
  ///
  /// - Parameters:
  ///   - value: The value.
  ///   - edit: Edits a part, and returns whether it has.
  static func editParts(of value: inout StateValue, _ edit: (inout ValuePart) -> Bool)
}

extension QueryState: EntityState {
  static func editParts(of value: inout Value?, _ edit: (inout Value) -> Bool) {
    guard var part = value, edit(&part) else { return }
    value = part
  }
}

extension PaginatedState: EntityState {
  static func editParts(of value: inout Pages<PageID, PageValue>, _ edit: (inout PageValue) -> Bool) {
    value.replaceParts(edit)
  }
}
