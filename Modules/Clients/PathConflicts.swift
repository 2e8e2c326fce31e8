extension OperationClient {
  /// Reports that the store at the path of an operation has another operation type or state type.
  @usableFromInline
  func reportPathInUse<Operation: StatefulOperationRequest>(_ kept: any AnyObject, by operation: Operation) {
    let (type, path) = (Operation.unmodifiedType, operation.path)
    let types = StoreRuntime.types(of: kept)
    let keptType = types?.operation ?? type
    let message =
      if keptType == type {
        """
        \(type) is requested at the path \(ShownText.of(path)) with the state \(Operation.State.self), where its \
        store has the state \(types?.state ?? Operation.State.self). It gets a store of its own, which the \
        client does not keep. Use the same state everywhere: apply `.defaultValue(_:)` in one place that all callers \
        use, or nowhere.
        """
      } else {
        """
        \(type) is requested at the path \(ShownText.of(path)), which has a store of \(keptType). It gets a store of \
        its own, which the client does not keep. Give each type of operation paths of its own.
        """
      }
    OperationWarning(code: .pathInUse, message: message).report()
  }
}
