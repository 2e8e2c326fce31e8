#if DEBUG
  internal import Synchronization

  /// The operation, with its modifiers, for which a client has created a store.
  ///
  /// A store is created once. A later request with other modifiers gets the store with the original modifiers.
  @usableFromInline
  package final class RequestedOperation: Sendable {
    /// How the store was made.
    private struct Origin {
      let type: any OperationRequest.Type
      let modifiers: String
      let closure: CallSite?
      let location: CallSite?
    }

    private struct State {
      var origin: Origin?
      var hasReportedModifiers = false
      var hasReportedClosure = false
    }

    private let state = Mutex(State())

    init() {}

    /// Notes the operation for which the store is made.
    @usableFromInline
    package func note(_ operation: some OperationRequest, at location: CallSite?) {
      let origin = Origin(
        type: type(of: operation),
        modifiers: operation.modifierText,
        closure: operation.closureLocation,
        location: location
      )
      self.state.withLock { $0.origin = origin }
    }

    /// Reports modifiers of an operation, or a closure, that have no effect because the store was made with others.
    /// Each is reported once.
    ///
    /// A request without modifiers is not reported, because it loses none.
    @usableFromInline
    package func reportIgnored<Operation: StatefulOperationRequest>(of operation: Operation, at location: CallSite?) {
      guard let origin = self.state.withLock({ $0.origin }) else { return }
      if !Operation.modifierTypes.isEmpty {
        let modifiers = operation.modifierText
        if origin.type != Operation.self || origin.modifiers != modifiers {
          self.reportModifiers(modifiers, of: operation, at: location, origin)
        }
      }
      if let made = origin.closure, let closure = operation.closureLocation, made != closure {
        self.reportClosure(at: closure, of: operation, madeAt: made)
      }
    }

    private func reportModifiers(
      _ modifiers: String,
      of operation: some StatefulOperationRequest,
      at location: CallSite?,
      _ origin: Origin
    ) {
      guard self.isFirst(\.hasReportedModifiers) else { return }
      OperationWarning(
        code: .modifiersIgnored,
        message: """
          \(type(of: operation).unmodifiedType) is requested at the path \(ShownText.of(operation.path)) with \
          \(modifiers)\(location.text), where its store was made with \
          \(origin.modifiers.isEmpty ? "no modifier" : origin.modifiers)\(origin.location.text). The store keeps the \
          modifiers that it was made with. Apply the same modifiers everywhere, for example in one place that all \
          callers use.
          """
      ).report()
    }

    private func reportClosure(
      at closure: CallSite,
      of operation: some StatefulOperationRequest,
      madeAt made: CallSite
    ) {
      guard self.isFirst(\.hasReportedClosure) else { return }
      OperationWarning(
        code: .closureIgnored,
        message: """
          The closure of \(operation.operationName) at \(closure) is never called: the store at the path \
          \(ShownText.of(operation.path)) was made with the closure at \(made). Give each operation a path of its \
          own, with everything that its closure depends on, or make the operation in one place.
          """
      ).report()
    }

    private func isFirst(_ flag: WritableKeyPath<State, Bool>) -> Bool {
      self.state.withLock { state in
        defer { state[keyPath: flag] = true }
        return !state[keyPath: flag]
      }
    }
  }

  extension CallSite? {
    /// The place in brackets; nothing if it is unknown.
    fileprivate var text: String { self.map { " (\($0))" } ?? "" }
  }
#endif
