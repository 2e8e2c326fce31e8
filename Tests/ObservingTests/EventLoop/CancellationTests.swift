#if os(Linux)
  import Dispatch
  import Foundation
  import OperationEventLoop
  import OperationTesting
  import Synchronization
  import TestFixtures
  import Testing

  @Suite(.bounded) struct CancellationTests {
    private let loop = EventLoop()

    @Test func `Cancelling waits for the callback that is running`() async throws {
      let pipe = Pipe()
      let (begun, mayEnd) = (Gate(), DispatchSemaphore(value: 0))
      let order = Log<String>()
      let registration = self.loop.watch(pipe.reader, for: .readable) { _ in
        pipe.receive()
        begun.open()
        mayEnd.wait()
        order.append("callback")
      }
      pipe.send()
      try await begun.wait()
      let cancellation = Thread.running {
        mayEnd.signal()
        registration.cancel()
        order.append("cancelled")
      }
      try await cancellation.wait()
      expect(order.all, equals: ["callback", "cancelled"])
      #expect(!self.loop.isRunning)
    }

    @Test func `Cancelling the last other registration does not wait for a running callback`() async throws {
      let pipe = Pipe()
      let (begun, mayEnd) = (Gate(), DispatchSemaphore(value: 0))
      let box = Box<EventLoop.Registration?>(nil)
      let ended = Gate()
      box.value = self.loop.watch(pipe.reader, for: .readable) { _ in
        box.value?.cancel()
        begun.open()
        mayEnd.wait()
        ended.open()
      }
      let timer = self.loop.schedule(after: .seconds(3_600)) {}
      pipe.send()
      try await begun.wait()
      timer.cancel()
      #expect(!ended.isOpen)
      mayEnd.signal()
      try await ended.wait()
      box.value?.cancel()
      #expect(!self.loop.isRunning)
    }

    @Test func `A callback may cancel another registration, whose callback is not called afterwards`() async throws {
      let pipes = [Pipe(), Pipe()]
      let boxes = [Box<EventLoop.Registration?>(nil), Box<EventLoop.Registration?>(nil)]
      let received = Log<Int>()
      let called = Gate()
      for number in 0...1 {
        pipes[number].send()
        boxes[number].value = self.loop.watch(pipes[number].reader, for: .readable) { _ in
          // The loop may call this before the boxes are filled, and then calls it again.
          guard boxes.allSatisfy({ $0.value != nil }) else { return }
          received.append(number)
          for box in boxes { box.value?.cancel() }
          called.open()
        }
      }
      try await called.wait()
      for box in boxes { box.value?.cancel() }
      expect(received.all.count, equals: 1)
      #expect(!self.loop.isRunning)
    }

    @Test func `A callback may register another one`() async throws {
      let (inner, done) = (Box<EventLoop.Registration?>(nil), Gate())
      let loop = self.loop
      let outer = loop.schedule(after: .zero) {
        inner.value = loop.schedule(after: .zero) { done.open() }
      }
      try await done.wait()
      outer.cancel()
      inner.value?.cancel()
      #expect(!loop.isRunning)
    }

    @Test func `No callback starts after its cancellation, whichever thread cancels it`() async throws {
      let loop = self.loop
      try await withTimeLimit("the threads") {
        await withTaskGroup(of: Void.self) { group in
          for _ in 0..<4 {
            group.addTask {
              for _ in 0..<500 {
                let pipe = Pipe()
                let shared = Shared()
                pipe.send()
                let watched = loop.watch(pipe.reader, for: .readable) { _ in shared.call() }
                let timer = loop.repeat(every: .milliseconds(1)) { shared.call() }
                watched.cancel()
                timer.cancel()
                shared.isCancelled.store(true, ordering: .sequentiallyConsistent)
                pipe.closeReader()
              }
            }
          }
        }
      }
      #expect(!loop.isRunning)
    }
  }

  private final class Shared: Sendable {
    let isCancelled = Atomic(false)

    func call() {
      if self.isCancelled.load(ordering: .sequentiallyConsistent) { Issue.record("called after cancelling") }
    }
  }

  extension Thread {
    /// Runs `body` on a thread of its own, and returns a gate that opens at its end.
    fileprivate static func running(_ body: @escaping @Sendable () -> Void) -> Gate {
      let end = Gate()
      Thread.detachNewThread { @Sendable in
        body()
        end.open()
      }
      return end
    }
  }
#endif
