#if os(Linux)
  /// Calls back while a socket is readable or writable, until it is cancelled or released.
  ///
  /// The calls come one after the other on one thread, which all connections of the process share.
  package final class SocketWatch: Sendable {
    private static let loop = EventLoop()

    private let registration: EventLoop.Registration

    package init(_ socket: CInt, isWriting: Bool, _ body: @escaping @Sendable () -> Void) {
      self.registration = Self.loop.watch(socket, for: isWriting ? .writable : .readable) { _ in body() }
    }

    /// Ends the calls. Waits for a running one, unless it is called from there.
    package func cancel() {
      self.registration.cancel()
    }
  }
#else
  internal import Dispatch

  /// Calls back while a socket is readable or writable, until it is cancelled or released.
  package final class SocketWatch: @unchecked Sendable {
    // Unchecked because the sources are constants, which may be used on any thread.
    private static let queue = DispatchQueue(label: "swift-operation.sockets")
    private static let isOnQueue = DispatchSpecificKey<Bool>()

    private let source: any DispatchSourceProtocol

    package init(_ socket: CInt, isWriting: Bool, _ body: @escaping @Sendable () -> Void) {
      Self.queue.setSpecific(key: Self.isOnQueue, value: true)
      self.source =
        isWriting
        ? DispatchSource.makeWriteSource(fileDescriptor: socket, queue: Self.queue)
        : DispatchSource.makeReadSource(fileDescriptor: socket, queue: Self.queue)
      self.source.setEventHandler { body() }
      self.source.activate()
    }

    deinit {
      self.cancel()
    }

    /// Ends the calls. Waits for a running one, unless it is called from there.
    package func cancel() {
      self.source.cancel()
      if DispatchQueue.getSpecific(key: Self.isOnQueue) == nil { Self.queue.sync {} }
    }
  }
#endif
