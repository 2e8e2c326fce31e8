#if os(Linux)
  internal import Synchronization

  /// Tells when files change, in place or by another file that takes their place.
  ///
  /// All watches share one `inotify` instance, of which a user may have few. It is there while there are watches.
  package final class FileWatcher: Sendable {
    /// The watcher of the process.
    package static let shared = FileWatcher(loop: .shared)

    /// What has happened to a file.
    package enum Change: Sendable {
      /// It may hold something else than before.
      case modified
      /// There is no file any more; nothing more will be told.
      case gone
    }

    typealias Handler = @Sendable (Change) -> Void

    struct State {
      /// What is watched, by path.
      var files: [String: WatchedFile] = [:]
      var instance: NotifyInstance?
      var registration: EventLoop.Registration?
      var lastID: UInt64 = 0
    }

    struct WatchedFile {
      /// The watch of the instance; nil when the file is gone.
      var descriptor: CInt?
      var handlers: [UInt64: Handler] = [:]
    }

    let state = Mutex(State())
    private let loop: EventLoop

    /// Creates a watcher with an instance of its own.
    package init(loop: EventLoop) {
      self.loop = loop
    }
  }

  // MARK: - Watching

  extension FileWatcher {
    /// Whether there is an instance.
    package var isOpen: Bool { self.state.withLock { $0.instance != nil } }
  }

  extension FileWatcher {
    /// Calls `onChange` on the thread of the loop whenever a file changes; nil when it cannot be watched.
    ///
    /// A call that has begun may go on after the watch has been cancelled.
    package func watch(_ path: String, onChange: @escaping @Sendable (Change) -> Void) -> Watch? {
      let id: UInt64? = self.state.withLock { state in
        if state.instance == nil {
          guard let instance = NotifyInstance() else { return nil }
          state.instance = instance
          state.registration = self.loop.watch(instance.descriptor, for: .readable) { [weak self] _ in
            self?.read(instance)
          }
        }
        guard let descriptor = state.files[path]?.descriptor ?? state.instance?.add(path) else { return nil }
        state.lastID += 1
        state.files[path, default: WatchedFile()].descriptor = descriptor
        state.files[path]?.handlers[state.lastID] = onChange
        return state.lastID
      }
      guard let id else {
        self.closeIfUnused()
        return nil
      }
      return Watch { self.remove(id, path) }
    }

    private func remove(_ id: UInt64, _ path: String) {
      let handler = self.state.withLock { state in
        let handler = state.files[path]?.handlers.removeValue(forKey: id)
        if let file = state.files[path], file.handlers.isEmpty {
          state.files[path] = nil
          if let descriptor = file.descriptor { state.removeIfUnused(descriptor) }
        }
        return handler
      }
      self.closeIfUnused()
      _ = consume handler  // What it captures is released after the lock.
    }

    private func closeIfUnused() {
      let (registration, instance) = self.state.withLock { state in
        guard state.files.isEmpty else { return (EventLoop.Registration?.none, NotifyInstance?.none) }
        defer { (state.registration, state.instance) = (nil, nil) }
        return (state.registration, state.instance)
      }
      registration?.cancel()
      _ = consume instance  // Closed when nobody waits for it any more.
    }

    /// Ends a watch when it is cancelled or dropped.
    package final class Watch: Sendable {
      private let onCancel: Mutex<(@Sendable () -> Void)?>

      fileprivate init(onCancel: @escaping @Sendable () -> Void) {
        self.onCancel = Mutex(onCancel)
      }

      deinit {
        self.cancel()
      }

      package func cancel() {
        let onCancel = self.onCancel.withLock { onCancel in
          defer { onCancel = nil }
          return onCancel
        }
        onCancel?()
      }
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
      for (handler, change) in calls { handler(change) }
    }
  }

  extension FileWatcher.State {
    /// Looks again for files that have been replaced, and says whom to call.
    mutating func calls(for events: [NotifyEvent]) -> [(FileWatcher.Handler, FileWatcher.Change)] {
      var calls: [(FileWatcher.Handler, FileWatcher.Change)] = []
      let isOverrun = events.contains(where: \.isOverrun)
      let named = Dictionary(events.map { ($0.descriptor, $0.mayBeAnotherFile) }, uniquingKeysWith: { $0 || $1 })
      for (path, file) in self.files {
        guard let descriptor = file.descriptor else { continue }
        guard let mayBeAnother = named[descriptor] ?? (isOverrun ? true : nil) else { continue }
        if mayBeAnother { self.files[path]?.descriptor = self.instance?.add(path) }
        let change: FileWatcher.Change = self.files[path]?.descriptor == nil ? .gone : .modified
        if mayBeAnother { self.removeIfUnused(descriptor) }
        calls += file.handlers.sorted { $0.key < $1.key }.map { ($0.value, change) }
      }
      return calls
    }

    mutating func removeIfUnused(_ descriptor: CInt) {
      // Several paths may lead to one file, which has one watch.
      guard !self.files.values.contains(where: { $0.descriptor == descriptor }) else { return }
      self.instance?.remove(descriptor)
    }
  }
#endif
