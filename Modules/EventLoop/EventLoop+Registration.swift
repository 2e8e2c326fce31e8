#if os(Linux)
  extension EventLoop {
    /// Keeps a descriptor or timer registered until it is cancelled or released.
    package final class Registration: Sendable {
      private let loop: EventLoop
      private let entry: Entry

      init(loop: EventLoop, entry: Entry) {
        self.loop = loop
        self.entry = entry
      }

      deinit {
        self.cancel()
      }

      /// Ends the callbacks: none is running when this returns, and none starts afterwards.
      ///
      /// Waits for a running callback of this registration, so do not hold a lock that the callback takes. Does not
      /// wait when called from a callback of the loop. Cancelling the last registration also waits until the thread has
      /// ended, unless another callback is running: the thread then ends by itself after that callback.
      package func cancel() {
        self.loop.cancel(self.entry)
      }
    }
  }
#endif
