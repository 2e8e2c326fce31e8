#if SwiftOperationDevtools
  internal import OperationCore

  extension OpaqueOperationStore {
    /// Shows a ``SimulatedFailure`` as the last result, as if a run had failed. Runs under way are cancelled.
    ///
    /// - Returns: Why that was not possible; nil if the error is set.
    func fail() -> String? {
      guard self.takesFailure(self.state.base) else {
        return "The errors of the operation have a type of their own, so no other one can be set."
      }
      self.cancelRuns()
      self.uncheckedSetResult(to: .failure(SimulatedFailure()))
      return nil
    }

    private func takesFailure<State: OperationState>(_ state: State) -> Bool { SimulatedFailure() is State.Failure }
  }
#endif
