public import OperationCore

extension OperationStore {
  @available(*, deprecated, renamed: "makeObservable()")
  @MainActor public var observable: ObservableStore<State> { self.makeObservable() }
}
