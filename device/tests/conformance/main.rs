//! What every device promises: one suite, run for each kind of device this build has. A kind that is not here prints
//! `skipped: why`. What can go wrong on a software device alone is tested for that one.

mod adoption;
mod buffers;
mod copies;
mod faults;
mod layouts;
mod memory;
mod processes;
mod rig;
mod staging;
mod streams;

/// All tests of the suite, for one kind of device.
macro_rules! suite {
    ($kind:ident) => {
        suite! { $kind,
            copies: every_direction parts_of_blocks spans_that_do_not_go_together_are_refused;
            streams: commands_keep_their_order events_order_streams a_bell_wakes_a_sleeper streams_are_awaited a_dropped_stream_does_what_it_was_given;
            layouts: steps_are_those_of_the_reference many_steps_are_given_at_once the_second_step_by_a_layout_copies_no_table halos_of_a_turn_are_in_order plans_beyond_their_memory_are_refused;
            memory: memory_that_is_dropped_stays_until_the_stream_is_past pinned_memory_shows_its_bytes_to_one_owner
                pinned_memory_has_a_bound device_memory_has_a_bound kept_memory_comes_back blocks_are_aligned_and_apart
                networks_find_memory_that_they_may_register;
            buffers: streams_take_turns_on_a_buffer what_is_longer_than_the_pinned_memory_is_written_and_read
                a_shared_buffer_is_read_by_many_and_written_after
                parts_are_buffers_of_their_own bytes_and_parts_share_memory_and_order
                plans_stage_and_unstage who_reads_waits_for_writes_that_were_told_later a_loan_ends_once_with_the_uses_that_are_left
                steps_go_from_buffer_to_buffer what_a_stream_does_for_the_user_is_waited_for
                zeros_are_written_in_order random_programs_do_what_they_say lengths_that_differ_are_refused
                streams_of_other_devices_are_refused
                closures_compute_in_order_where_kernels_are_closures;
            adoption: adopted_memory_is_a_buffer_and_goes_back_to_its_maker what_is_no_memory_of_the_device_is_not_adopted
                streams_have_names_where_their_kind_has;
            staging: chunks_are_packed_while_others_are_copied chunks_are_copied_while_others_are_unpacked
                rows_are_copied_however_they_stand steps_of_a_batch_are_launched_together
                a_measured_model_chooses_what_takes_the_least_time;
            processes: an_exported_arena_is_the_same_memory adopted_memory_is_the_same_memory_elsewhere an_arena_outlives_its_exporter a_host_that_touches_device_memory_is_ended
                what_is_no_arena_is_not_imported a_device_is_the_same_in_all_processes;
        }
    };
    ($kind:ident, $($area:ident: $($test:ident)*;)*) => {
        mod $kind {
            $(mod $area {
                $(#[test]
                fn $test() {
                    crate::rig::run(crate::rig::Kind::$kind, crate::$area::$test);
                })*
            })*
        }
    };
}

suite!(software);
#[cfg(feature = "cuda")]
suite!(cuda);
