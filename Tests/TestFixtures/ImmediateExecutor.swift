/// An executor that runs a job at once, on the thread that resumes its task.
package final class ImmediateExecutor: TaskExecutor {
  package init() {}

  package func enqueue(_ job: consuming ExecutorJob) {
    UnownedJob(job).runSynchronously(on: self.asUnownedTaskExecutor())
  }
}
