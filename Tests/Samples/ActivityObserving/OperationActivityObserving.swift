import OperationActivityObserving
import OperationCore

let observer = MockApplicationActivityObserver(isActive: true)

struct OnboardingQuery: SampleQuery {}
