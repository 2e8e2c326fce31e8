#if os(Linux)
  package import OperationCore

  /// Notifies when files change, in place or by being replaced with another file.
  ///
  /// All watches share one `inotify` instance, because the number of instances per user is limited. The instance exists
  /// while there are watches.
  package final class FileWatcher: Sendable {
    /// The watcher of the process.
    package static let shared = FileWatcher(loop: .shared)

    /// A change to a file.
    package enum Change: Sendable {
      /// The contents may have changed.
      case modified
      /// The file no longer exists; no more changes are reported.
      case gone
    }

    /// A call to make after the lock.
    typealias Call = (handler: Handlers<Change>.Handler, change: Change)

    struct State {
      /// The watched files by path.
      var files: [String: WatchedFile] = [:]
      var instance: NotifyInstance?
      var registration: EventLoop.Registration?
    }

    struct WatchedFile {
      /// The watch descriptor in the `inotify` instance; nil when the file is gone.
      var descriptor: CInt?
      var handlers = Handlers<Change>()
    }

    let state = Locked(State())
    private let loop: EventLoop

    /// Creates a watcher with an `inotify` instance of its own.
    package init(loop: EventLoop) {
      self.loop = loop
    }
  }

  // MARK: - Watching

  extension FileWatcher {
    /// Whether the `inotify` instance is open.
    package var isOpen: Bool { self.state.withLock { $0.instance != nil } }

    /// Calls `onChange` on the thread of the loop whenever the file changes; nil if the file cannot be watched.
    ///
    /// A running call may continue after the subscription is cancelled; no new call starts.
    package func watch(_ path: String, onChange: @escaping @Sendable (Change) -> Void) -> OperationSubscription? {
      var opened: NotifyInstance?
      let id: UInt64? = self.state.withLock { state in
        if state.instance == nil {
          opened = NotifyInstance()
          state.instance = opened
        }
        guard let descriptor = state.files[path]?.descriptor ?? state.instance?.add(path) else { return nil }
        state.files[path, default: WatchedFile()].descriptor = descriptor
        return state.files[path]?.handlers.add(Handlers.Handler(onChange))
      }
      if let opened { self.register(opened) }
      guard let id else {
        self.closeIfUnused()
        return nil
      }
      return OperationSubscription { self.remove(id, path) }
    }

    /// Registers the instance with the loop. The lock must not be held, because the loop may report a warning.
    private func register(_ instance: NotifyInstance) {
      let registration = self.loop.watch(instance.descriptor, for: .readable) { [weak self] _ in self?.read(instance) }
      let isUsed = self.state.withLock { state in
        guard state.instance === instance else { return false }
        state.registration = registration
        return true
      }
      if !isUsed { registration.cancel() }
    }

    private func remove(_ id: UInt64, _ path: String) {
      self.state.withLock { state, released in
        released.append(state.files[path]?.handlers.remove(id))
        if let file = state.files[path], file.handlers.isEmpty {
          state.files[path] = nil
          if let descriptor = file.descriptor { state.removeIfUnused(descriptor) }
        }
      }
      self.closeIfUnused()
    }

    private func closeIfUnused() {
      let (registration, instance) = self.state.withLock { state in
        state.files.isEmpty ? (state.registration.take(), state.instance.take()) : (nil, nil)
      }
      registration?.cancel()
      // Keeps the descriptor open until the registration is cancelled.
      withExtendedLifetime(instance) {}
    }
  }

  // MARK: - Reading

  extension FileWatcher {
    private func read(_ instance: NotifyInstance) {
      let events = instance.read()
      guard !events.isEmpty else { return }
      let calls = self.state.withLock { state in
        state.instance === instance ? state.calls(for: events) : []
      }
      for (handler, change) in calls { handler.call(change) }
    }
  }

  extension FileWatcher.State {
    /// Watches files again that were replaced, and returns the calls to make.
    mutating func calls(for events: [NotifyEvent]) -> [FileWatcher.Call] {
      var calls: [FileWatcher.Call] = []
      let isOverrun = events.contains(where: \.isOverrun)
      let named = Dictionary(events.map { ($0.descriptor, $0.mayBeAnotherFile) }, uniquingKeysWith: { $0 || $1 })
      for (path, file) in self.files {
        guard let descriptor = file.descriptor else { continue }
        guard let mayBeAnother = named[descriptor] ?? (isOverrun ? true : nil) else { continue }
        if mayBeAnother { self.files[path]?.descriptor = self.instance?.add(path) }
        let change: FileWatcher.Change = self.files[path]?.descriptor == nil ? .gone : .modified
        if mayBeAnother { self.removeIfUnused(descriptor) }
        calls += file.handlers.all.map { ($0, change) }
      }
      return calls
    }

    mutating func removeIfUnused(_ descriptor: CInt) {
      // Several paths may lead to the same file, which has one watch.
      guard !self.files.values.contains(where: { $0.descriptor == descriptor }) else { return }
      self.instance?.remove(descriptor)
    }
  }
#endif
