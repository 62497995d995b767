//! What every kernel promises besides accuracy.

use allocation_counter::measure;

use super::problems::{
    ARENSTORF_START, arenstorf, hires, known, known_solution, reference, robertson,
};
use super::*;

#[test]
fn time_never_passes_the_end_and_meets_it_exactly() {
    for mut kernel in kernels(3, tolerance(1e-6, 1e-9)) {
        let mut flow = Plain::new(known);
        begin(&mut kernel, &mut flow, 0.0, &known_solution(0.0), None);
        for i in 1..=70 {
            let end = 0.1 * f64::from(i);
            flow.latest = 0.0;
            while kernel.t() < end {
                let before = kernel.t();
                kernel.step(&mut flow, end).unwrap();
                assert_eq!(kernel.previous_t(), before);
                assert!(kernel.t() > before && kernel.t() <= end);
            }
            assert_eq!(kernel.t(), end);
            // Stage five of ESDIRK lies at 1.04 h by construction.
            let reach = if matches!(kernel, VariableStep::Esdirk43(_)) { 0.0041 } else { 0.0 };
            assert!(flow.latest <= end + reach, "asked for {} after {end}", flow.latest);
            let counts = kernel.counts();
            kernel.step(&mut flow, end).unwrap();
            assert_eq!(kernel.counts(), counts, "nothing is left to do at the end");
        }
    }
}

#[test]
fn no_sliver_is_left_before_the_end() {
    for mut kernel in kernels(2, tolerance(1e-4, 1e-4)) {
        let mut flow = Plain::new(|_, _: &[f64], rate: &mut [f64]| rate.fill(1.0));
        for excess in [0.001, 0.02, 0.5, 0.97] {
            begin(&mut kernel, &mut flow, 0.0, &[0.0, 0.0], Some(1.0));
            let end = 1.0 + excess;
            while kernel.t() < end {
                kernel.step(&mut flow, end).unwrap();
                let taken = kernel.t() - kernel.previous_t();
                assert!((0.5..=1.01).contains(&taken), "a step of {taken} towards {end}");
            }
        }
    }
}

#[test]
fn explicit_kernel_ends_with_an_evaluation_at_the_new_state() {
    let mut kernel = DormandPrince54::new(4, tolerance(1e-6, 1e-6));
    let mut flow = Plain::new(arenstorf);
    begin(&mut kernel, &mut flow, 0.0, &ARENSTORF_START, None);
    while kernel.t() < 3.0 {
        kernel.step(&mut flow, 3.0).unwrap();
        assert_eq!(flow.last.0, kernel.t());
        assert_eq!(flow.last.1, kernel.u());
    }
    assert!(kernel.counts().rejected > 0, "the test sees rejections");
}

#[test]
fn interpolation_meets_both_ends() {
    let reference = reference("hires");
    for mut kernel in kernels(8, tolerance(1e-5, 1e-9)) {
        let mut flow = Plain::new(hires);
        begin(&mut kernel, &mut flow, 0.0, &reference.start, None);
        let mut u = vec![0.0; 8];
        while kernel.t() < 2.0 {
            let before = kernel.u().to_vec();
            kernel.step(&mut flow, 2.0).unwrap();
            let (start, end) = (kernel.previous_t(), kernel.t());
            kernel.interpolate(start, &mut u);
            assert_eq!(u, before);
            kernel.interpolate(end, &mut u);
            assert_eq!(u, kernel.u());
            // And so does the formula itself: within 1e-12 of the step it moved by as little.
            let epsilon = 1e-12 * (end - start);
            for (t, at) in [(start + epsilon, &before[..]), (end - epsilon, kernel.u())] {
                kernel.interpolate(t, &mut u);
                let jump = relative_error(&u, at, 1e-3);
                assert!(jump < 1e-11, "jumps by {jump:e} at {t}");
            }
        }
    }
}

#[test]
fn no_step_allocates() {
    let reference = reference("robertson");
    for mut kernel in kernels(3, tolerance(1e-6, 1e-9)) {
        let mut flow = Plain::new(robertson);
        begin(&mut kernel, &mut flow, 0.0, &reference.start, None);
        let mut u = [0.0; 3];
        let first = [-0.04, 0.04, 0.0];
        let allocated = measure(|| {
            for segment in 1..4 {
                kernel.begin(0.0, &reference.start, &first, None);
                while kernel.t() < f64::from(segment) {
                    kernel.step(&mut flow, f64::from(segment)).unwrap();
                    kernel.interpolate(kernel.t(), &mut u);
                }
            }
        });
        assert_eq!(allocated.count_total, 0);
        assert!(kernel.counts().steps > 10, "{:?}", kernel.counts());
    }
    let mut flow = Plain::new(robertson);
    let mut kernel = ImplicitEuler::new(3, ImplicitEuler::TOLERANCE);
    let mut u = [1.0, 0.0, 0.0];
    kernel.advance(&mut flow, 0.0, 0.1, &mut u).unwrap();
    let allocated = measure(|| {
        for _ in 0..100 {
            kernel.advance(&mut flow, 0.0, 0.1, &mut u).unwrap();
        }
    });
    assert_eq!(allocated.count_total, 0);
    let seen = measure(|| drop(std::hint::black_box(vec![1.0])));
    assert_eq!(seen.count_total, 1, "the count sees an allocation");
}

#[test]
fn a_segment_depends_on_nothing_before_it() {
    let reference = reference("hires");
    for (mut used, mut new) in
        kernels(8, tolerance(1e-6, 1e-9)).into_iter().zip(kernels(8, tolerance(1e-6, 1e-9)))
    {
        let mut flow = Plain::new(hires);
        begin(&mut used, &mut flow, 0.0, &reference.start, None);
        while used.t() < 3.0 {
            used.step(&mut flow, 3.0).unwrap();
        }
        let (u, h) = (used.u().to_vec(), used.remembered_step());
        for kernel in [&mut used, &mut new] {
            begin(kernel, &mut flow, 0.0, &u, Some(h));
            while kernel.t() < 10.0 {
                kernel.step(&mut flow, 10.0).unwrap();
            }
        }
        assert_eq!(used.u(), new.u());
        assert_eq!(used.remembered_step(), new.remembered_step());
        assert_ne!(used.counts(), new.counts());
    }
}

#[test]
fn a_kept_jacobian_spares_rates_and_is_memory_that_can_be_restored() {
    let start = reference("hires").start;
    let run = |keep: bool, restore: bool| {
        kernels(8, tolerance(1e-5, 1e-9)).map(|mut kernel| {
            let mut flow = Plain::new(hires);
            kernel.keep_jacobian(keep);
            let (mut u, mut h) = (start.clone(), None);
            for _ in 0..200 {
                if restore {
                    let mut new = kernel.clone();
                    new.set_jacobian(None);
                    new.set_jacobian(kernel.jacobian());
                    kernel = new;
                }
                begin(&mut kernel, &mut flow, 0.0, &u, h);
                while kernel.t() < 0.05 {
                    kernel.step(&mut flow, 0.05).unwrap();
                }
                u.copy_from_slice(kernel.u());
                h = Some(kernel.remembered_step());
            }
            (u, kernel.counts())
        })
    };
    let (fresh, kept, restored) = (run(false, false), run(true, false), run(true, true));
    assert_eq!(kept, restored);
    assert_eq!(fresh[0], kept[0], "the explicit kernel has none");
    for (fresh, kept) in fresh.iter().zip(&kept).skip(1) {
        assert_eq!(fresh.1.jacobians, 200);
        assert!(kept.1.jacobians < 50, "{:?}", kept.1);
        assert!(kept.1.rates < fresh.1.rates, "{:?} {:?}", kept.1, fresh.1);
        assert!(relative_error(&kept.0, &fresh.0, 1e-4) < 1e-3, "{:?} {:?}", kept.0, fresh.0);
    }
}

#[test]
fn implicit_euler_continues_bit_for_bit_from_its_jacobian() {
    let mut flow = Plain::new(robertson);
    let mut kernel = ImplicitEuler::new(3, ImplicitEuler::TOLERANCE);
    let mut u = [1.0, 0.0, 0.0];
    for i in 0..60 {
        let mut restored = ImplicitEuler::new(3, ImplicitEuler::TOLERANCE);
        restored.set_jacobian(kernel.jacobian());
        let mut copy = u;
        let t = 0.1 * f64::from(i);
        kernel.advance(&mut flow, t, 0.1, &mut u).unwrap();
        restored.advance(&mut flow, t, 0.1, &mut copy).unwrap();
        assert_eq!(u, copy, "step {i}");
        assert_eq!(kernel.jacobian(), restored.jacobian(), "step {i}");
    }
    assert!(kernel.counts().jacobians < 20, "{:?}", kernel.counts());
}

#[test]
fn a_declared_jacobian_replaces_differences() {
    struct Decay;
    impl Flow for Decay {
        type Error = Infallible;
        fn rate(&mut self, _: f64, u: &[f64], rate: &mut [f64]) -> Result<(), Infallible> {
            rate[0] = -1e4 * u[0] + u[1];
            rate[1] = -u[1];
            Ok(())
        }
        fn magnitude(&mut self, u: &[f64], magnitude: &mut [f64]) {
            for (m, u) in magnitude.iter_mut().zip(u) {
                *m = u.abs();
            }
        }
        fn jacobian(&mut self, _: f64, _: &[f64], j: &mut [f64]) -> Result<bool, Infallible> {
            j.copy_from_slice(&[-1e4, 0.0, 1.0, -1.0]);
            Ok(true)
        }
    }
    for declared in kernels(2, tolerance(1e-6, 1e-9)).into_iter().skip(1) {
        let mut differences = declared.clone();
        let mut declared = declared;
        let with = solve(&mut declared, &mut Decay, &[1.0, 1.0], &[2.0]);
        let mut plain =
            Plain::new(|t, u: &[f64], rate: &mut [f64]| Decay.rate(t, u, rate).unwrap());
        let without = solve(&mut differences, &mut plain, &[1.0, 1.0], &[2.0]);
        assert!(relative_error(&with[0], &without[0], 0.0) < 1e-5);
        let (with, without) = (declared.counts(), differences.counts());
        assert_eq!((with.jacobians, without.jacobians), (1, 1));
        // Two columns and the point itself; round-off of the Jacobian may cost some iterations.
        let more = without.rates - with.rates;
        assert!((3..3 + with.rates / 10).contains(&more), "{with:?} {without:?}");
    }
}

#[test]
fn a_relative_tolerance_refers_to_the_magnitude_not_to_the_coordinate() {
    // The same motion in a chart about x = 1e3 and as a plain number: the same steps.
    struct Chart(f64);
    impl Flow for Chart {
        type Error = Infallible;
        fn rate(&mut self, t: f64, _: &[f64], rate: &mut [f64]) -> Result<(), Infallible> {
            rate[0] = 1e3 * libm::cos(t);
            Ok(())
        }
        fn magnitude(&mut self, u: &[f64], magnitude: &mut [f64]) {
            magnitude[0] = (self.0 + u[0]).abs();
        }
    }
    for mut chart in kernels(1, tolerance(1e-6, 1e-9)) {
        let mut plain = chart.clone();
        let in_chart = solve(&mut chart, &mut Chart(1e3), &[0.0], &[3.0]);
        let alone = solve(&mut plain, &mut Chart(0.0), &[1e3], &[3.0]);
        // Round-off may decide whether a factorization is kept, no more.
        assert_eq!(chart.counts().steps, plain.counts().steps);
        assert_eq!(chart.counts().rejected, plain.counts().rejected);
        assert!((in_chart[0][0] + 1e3 - alone[0][0]).abs() < 1e-3);
    }
}

#[test]
fn singularities_end_in_an_error_with_its_time() {
    for mut kernel in kernels(1, tolerance(1e-6, 1e-9)) {
        // u' = u², u(0) = 1 leaves every bound at t = 1.
        let mut flow = Plain::new(|_, u: &[f64], rate: &mut [f64]| rate[0] = u[0] * u[0]);
        begin(&mut kernel, &mut flow, 0.0, &[1.0], None);
        let failure = loop {
            if let Err(failure) = kernel.step(&mut flow, 2.0) {
                break failure;
            }
            assert!(kernel.t() < 1.1);
        };
        let (Failure::StepTooSmall { t, .. } | Failure::NotFinite { t, .. }) = failure else {
            panic!("{failure}");
        };
        assert!((t - 1.0).abs() < 1e-3, "{failure}");
        assert_eq!(kernel.t(), t);
    }
    for mut kernel in kernels(1, tolerance(1e-6, 1e-9)) {
        let mut flow = Plain::new(|t, _: &[f64], rate: &mut [f64]| {
            rate[0] = if t < 0.5 { 1.0 } else { f64::NAN };
        });
        begin(&mut kernel, &mut flow, 0.0, &[0.0], None);
        let failure = loop {
            if let Err(failure) = kernel.step(&mut flow, 1.0) {
                break failure;
            }
        };
        assert!(matches!(failure, Failure::NotFinite { t, .. } if t <= 0.5), "{failure}");
        kernel.begin(0.0, &[0.0], &[f64::NAN], None);
        assert!(matches!(kernel.step(&mut flow, 1.0), Err(Failure::NotFinite { .. })));
    }
}

#[test]
fn a_fault_of_the_flow_is_passed_on_and_the_kernel_stays() {
    struct Faulty(u32);
    impl Flow for Faulty {
        type Error = u32;
        fn rate(&mut self, _: f64, u: &[f64], rate: &mut [f64]) -> Result<(), u32> {
            self.0 -= 1;
            rate[0] = -u[0];
            if self.0 == 0 { Err(7) } else { Ok(()) }
        }
        fn magnitude(&mut self, u: &[f64], magnitude: &mut [f64]) {
            magnitude[0] = u[0].abs();
        }
    }
    for calls in 1..40 {
        for mut kernel in kernels(1, tolerance(1e-4, 1e-4)) {
            let mut flow = Faulty(calls);
            kernel.begin(0.0, &[1.0], &[-1.0], Some(0.01));
            let (mut t, mut u) = (0.0, 1.0);
            loop {
                match kernel.step(&mut flow, 100.0) {
                    Ok(()) => (t, u) = (kernel.t(), kernel.u()[0]),
                    Err(failure) => {
                        assert_eq!(failure, Failure::Flow(7));
                        break;
                    }
                }
            }
            assert_eq!((kernel.t(), kernel.u()[0]), (t, u));
            // And it can go on.
            flow.0 = u32::MAX;
            kernel.step(&mut flow, t + 0.01).unwrap();
            assert!((kernel.u()[0] - libm::exp(-kernel.t())).abs() < 1e-2);
        }
    }
}

#[test]
fn implicit_euler_says_when_it_does_not_converge() {
    // u = 1 + h (u² + 1) has no real solution for h = 1.
    let mut flow = Plain::new(|_, u: &[f64], rate: &mut [f64]| rate[0] = u[0] * u[0] + 1.0);
    let mut kernel = ImplicitEuler::new(1, ImplicitEuler::TOLERANCE);
    let mut u = [1.0];
    let outcome = kernel.advance(&mut flow, 0.0, 1.0, &mut u);
    assert!(matches!(outcome, Err(Failure::NotConverged { t: 1.0, .. })), "{outcome:?}");
    assert_eq!(u, [1.0]);
    kernel.advance(&mut flow, 0.0, 0.01, &mut u).unwrap();
    assert!((u[0] - 1.0 - 0.01 * (u[0] * u[0] + 1.0)).abs() < 2e-9, "tolerance 1e-9 · |u|");
}
