#if DEBUG
  internal import Synchronization

  /// The operation type, including modifiers, that a client created a store for.
  ///
  /// A store is created once: a later request with other modifiers gets the store with its original modifiers.
  @usableFromInline
  final class RequestedOperation: Sendable {
    private struct State {
      var type: (any OperationRequest.Type)?
      var hasReported = false
    }

    private let state = Mutex(State())

    @usableFromInline
    init() {}

    @usableFromInline
    func note(_ type: any OperationRequest.Type) {
      self.state.withLock { $0.type = type }
    }

    /// Reports once that the modifiers of an operation have no effect, unless the store was created with the same ones.
    ///
    /// A request without modifiers is not reported, because it loses none.
    @usableFromInline
    func reportIgnoredModifiers<Operation: StatefulOperationRequest>(of operation: Operation) {
      let (made, hasReported) = self.state.withLock { ($0.type, $0.hasReported) }
      guard let made, made != Operation.self, !hasReported, !Operation.modifierTypes.isEmpty else { return }
      let isFirst = self.state.withLock { state in
        defer { state.hasReported = true }
        return !state.hasReported
      }
      guard isFirst else { return }
      OperationWarning(
        code: .modifiersIgnored,
        message: """
          \(Operation.unmodifiedType) is requested at the path \(operation.path) with \(Operation.modifierNames), where its \
          store was made with \(made.modifierNames). The store keeps the modifiers that it was made with. Apply the same \
          modifiers everywhere, for example in one place that all callers use.
          """
      ).report()
    }
  }
#endif
