#if SwiftOperationDevtools
  internal import OperationCore

  /// A task that another one replaces, and that ends with its owner.
  final class TaskSlot: Sendable {
    private let task = Locked<Task<Void, Never>?>(nil)

    /// Cancels the task that is there, and keeps another one.
    func set(_ task: Task<Void, Never>?) {
      let previous = self.task.withLock { slot in
        defer { slot = task }
        return slot
      }
      previous?.cancel()
    }

    deinit { self.set(nil) }
  }
#endif
