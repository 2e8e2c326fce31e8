#if SwiftOperationDevtools
  internal import Dispatch
  internal import OperationCore

  /// One connection to the page's server: its request is read and answered, and then the connection ends.
  final class PageConnection: @unchecked Sendable {
    // Unchecked because the variables are only accessed on the queue of the server.

    private enum Phase {
      case reading(RequestReader)
      case answering
      /// Everything is sent. The other side is heard to its end, because closing before would take back what it has not read.
      case draining
      case ended
    }

    private let server: PageListener
    private var socket: PageSocket?
    private var phase = Phase.reading(RequestReader())
    private var reading: (any DispatchSourceRead)?
    private var writing: (any DispatchSourceWrite)?
    private var unsent: ArraySlice<UInt8> = []
    /// The task that waits until everything is sent.
    private var sender: CheckedContinuation<Bool, Never>?
    private var task: Task<Void, Never>?
    private var deadline: OperationSubscription?
    private var deadlineNumber = 0
    /// The number of bytes that were thrown away behind the request.
    private var excess = 0

    init(_ socket: PageSocket, of server: PageListener) {
      self.socket = socket
      self.server = server
    }

    /// Whether the request is not complete: the connection gives way to others.
    var isReading: Bool { if case .reading = self.phase { true } else { false } }

    /// Begins to read the request.
    func begin() {
      guard let socket else { return }
      let reading = DispatchSource.makeReadSource(fileDescriptor: socket.descriptor, queue: self.server.queue)
      reading.setEventHandler { [weak self] in self?.read() }
      // Not closed while the source knows of the descriptor.
      reading.setCancelHandler { withExtendedLifetime(socket) {} }
      self.reading = reading
      reading.activate()
      self.setDeadline(after: self.server.limits.requestTime)
    }

    /// Ends the connection at once.
    func end() {
      if case .ended = self.phase { return }
      self.phase = .ended
      self.socket?.end()
      self.reading?.cancel()
      self.writing?.cancel()
      (self.socket, self.reading, self.writing, self.unsent) = (nil, nil, nil, [])
      self.deadline?.cancel()
      self.deadline = nil
      self.task?.cancel()
      self.task = nil
      self.sender.take()?.resume(returning: false)
      self.server.hasEnded(self)
    }

    // MARK: - Time

    /// Ends the connection after a time, unless another deadline is set before.
    private func setDeadline(after duration: Duration) {
      self.clearDeadline()
      let number = self.deadlineNumber
      self.deadline = self.server.deadlines.schedule(after: duration) { [weak self, queue = self.server.queue] in
        queue.async { if let self, self.deadlineNumber == number { self.end() } }
      }
    }

    private func clearDeadline() {
      self.deadlineNumber += 1
      self.deadline?.cancel()
      self.deadline = nil
    }

    // MARK: - Reading

    private func read() {
      guard let socket else { return }
      withUnsafeTemporaryAllocation(byteCount: 16 << 10, alignment: 1) { buffer in
        switch socket.read(into: buffer) {
        case .bytes(let count): self.take(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
        case .nothingYet: break
        case .end: self.end()
        }
      }
    }

    private func take(_ bytes: UnsafeRawBufferPointer) {
      guard case .reading(var reader) = self.phase else {
        self.excess += bytes.count
        if self.excess > PageListener.Limits.excess { self.end() }
        return
      }
      self.phase = .answering
      do throws(PageRefusal) {
        guard let request = try reader.add(bytes, admit: self.server.answers.admit) else {
          self.phase = .reading(reader)
          return
        }
        self.clearDeadline()
        if let file = self.server.answers.file(for: request) {
          self.sendWhole(file)
        } else {
          self.answer(request)
        }
      } catch {
        self.sendWhole(PageResponse(error))
      }
    }

    // MARK: - Answering

    /// Asks the feed, which works on the threads of the program. A request that comes here has brought the token.
    private func answer(_ request: PageRequest) {
      self.task = Task(name: "Devtools page") { [answers = self.server.answers] in
        let response = await answers.answer(request)
        var isThere = await self.send(response.bytes)
        if case .events(let connection) = response.body {
          while isThere, let messages = await connection.next() { isThere = await self.send(Array(messages.utf8)) }
          connection.end()
        }
        self.server.queue.async { self.drain() }
      }
    }

    private func sendWhole(_ response: PageResponse) {
      self.unsent = response.bytes[...]
      self.write()
    }

    /// Sends bytes, and waits until the system has taken them.
    ///
    /// - Returns: Whether the other side is still there.
    private func send(_ bytes: [UInt8]) async -> Bool {
      await withCheckedContinuation { continuation in
        self.server.queue.async {
          guard self.socket != nil else { return continuation.resume(returning: false) }
          self.unsent = bytes[...]
          self.sender = continuation
          self.write()
        }
      }
    }

    private func write() {
      guard let socket else { return }
      while !self.unsent.isEmpty {
        switch socket.write(self.unsent) {
        case .bytes(let count): self.unsent = self.unsent.dropFirst(count)
        case .nothingYet: return self.writeLater(socket)
        case .end: return self.end()
        }
      }
      self.unsent = []
      self.writing?.cancel()
      self.writing = nil
      self.clearDeadline()
      if let sender = self.sender.take() { sender.resume(returning: true) } else { self.drain() }
    }

    private func writeLater(_ socket: PageSocket) {
      self.setDeadline(after: self.server.limits.sendTime)
      if self.writing != nil { return }
      let writing = DispatchSource.makeWriteSource(fileDescriptor: socket.descriptor, queue: self.server.queue)
      writing.setEventHandler { [weak self] in self?.write() }
      writing.setCancelHandler { withExtendedLifetime(socket) {} }
      self.writing = writing
      writing.activate()
    }

    private func drain() {
      guard let socket else { return }
      self.phase = .draining
      socket.endWriting()
      self.setDeadline(after: self.server.limits.drainTime)
    }
  }
#endif
